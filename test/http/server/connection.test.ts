import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { halfCloseGraceMs, requestsPerTurn } from '../../../src/http/server/connection-limits.ts'
import type { Response } from '../../../src/http/server/response.ts'
import { eventually } from '../../support/eventually.ts'
import { headerOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { collectBody, head, listenOn, reply, startHttpServer, switchingProtocols } from '../support/http-server.ts'

const chunked = 'Transfer-Encoding: chunked'

t.test('a pipelined request begins when the answer before it has been written', async t => {
  const held: Response[] = []
  const { url, requests } = await startHttpServer(t, (_request, response) => void held.push(response))
  const connection = openConnection(t, url).send(head('GET /a') + head('GET /b') + head('GET /c').slice(0, 9))

  for (const nth of [0, 1, 2]) {
    await eventually(() => requests.length === nth + 1)
    await nextTurn()
    t.equal(requests.length, nth + 1, 'the next one waits')
    held[nth]?.writeHead({ status: 200, lines: '', length: '4', hasDate: false })
    held[nth]?.write(Buffer.from('he'))
    await nextTurn()
    t.equal(requests.length, nth + 1, 'a part of an answer changes nothing')
    held[nth]?.end('re')
    t.equal((await connection.answer()).body.toString(), 'here')
    if (nth === 1) connection.send(head('GET /c').slice(9))
  }
  t.same(
    requests.map(({ head }) => head.target),
    ['/a', '/b', '/c'],
  )
})

t.test(
  'what a client sends while its request is answered stays unread beyond the buffers of the connection',
  async t => {
    const held: Response[] = []
    const { url } = await startHttpServer(t, (_request, response) => void held.push(response))
    const connection = openConnection(t, url).send(head('GET /'))
    await eventually(() => held.length === 1)
    connection.send(Buffer.alloc(64 * 1024 * 1024, 'a'))
    let before = -1
    let same = 0
    await eventually(() => {
      same = connection.unsentBytes === before ? same + 1 : 0
      before = connection.unsentBytes
      return same > 20
    })

    t.ok(connection.unsentBytes > 32 * 1024 * 1024, `${connection.unsentBytes} bytes are unsent`)
  },
)

t.test('hundreds of requests in one burst are answered in their order', async t => {
  const { url } = await startHttpServer(t, ({ head }, response) => {
    if (head.target.endsWith('7')) setImmediate(reply, response, head.target)
    else reply(response, head.target)
  })
  const targets = Array.from({ length: 500 }, (_, nth) => `/${nth}`)
  const connection = openConnection(t, url).send(targets.map(target => head(`GET ${target}`)).join(''))

  for (const target of targets) {
    const { body } = await connection.answer()
    if (body.toString() !== target) t.equal(body.toString(), target)
  }
  t.equal(connection.received.length, 0)
})

t.test('a burst of requests that are answered at once takes turns with other connections', async t => {
  let turn = 0
  const turns: number[] = []
  const { url } = await startHttpServer(t, (_request, response) => {
    turns.push(turn)
    reply(response, 'ok')
  })
  const count = 200
  const connection = openConnection(t, url)
  const countTurns = (): void => {
    turn++
    if (turns.length < count) setImmediate(countTurns)
  }
  countTurns()
  connection.send(head('GET /').repeat(count))
  for (let answered = 0; answered < count; answered++) await connection.answer()

  const inOneTurn = [...new Set(turns)].map(each => turns.filter(other => other === each).length)
  t.ok(Math.max(...inOneTurn) <= 2 * requestsPerTurn, `at most ${Math.max(...inOneTurn)} in one turn`)
})

t.test('a first burst of any size is read as one request, and the connection serves another', async t => {
  const { url } = await startHttpServer(t, (request, response) => {
    collectBody(request, body => reply(response, `${request.head.target} ${body.split('x').length - 1}`))
  })
  const post = (bytes: number): string => head('POST /up', `Content-Length: ${bytes}`) + 'x'.repeat(bytes)
  for (const bytes of [1, 30_000, 52_000, 60_000, 65_300, 65_400, 100_000, 5_000_000]) {
    const connection = openConnection(t, url).send(post(bytes))
    t.equal((await connection.answer()).body.toString(), `/up ${bytes}`)
    t.equal((await connection.send(head('GET /then')).answer()).body.toString(), '/then 0')
  }
})

t.test('a request that comes byte by byte is one', async t => {
  const { url } = await startHttpServer(t, (request, response) => {
    collectBody(request, body => reply(response, `${request.head.target} ${body}`))
  })
  const connection = openConnection(t, url)
  for (const [bytes, body] of [
    [`${head('POST /a', chunked)}5;a=b\r\nhello\r\n0\r\nX-A: 1\r\n\r\n`, '/a hello'],
    [`\r\n${head('POST /b', 'Content-Length: 5')}hello`, '/b hello'],
  ] as const) {
    for (const byte of bytes) {
      connection.send(byte)
      await nextTurn()
    }
    t.equal((await connection.answer()).body.toString(), body)
  }
})

t.test('a request that comes together with the FIN is answered, whenever its body is read', async t => {
  const { url } = await startHttpServer(t, (request, response) => {
    const answer = (): void => collectBody(request, body => reply(response, `${request.head.target} ${body}`))
    if (request.head.target === '/now') answer()
    else setTimeout(answer, 20)
  })
  for (const target of ['/now', '/later']) {
    for (const [bytes, body] of [
      [head(`GET ${target}`), ''],
      [`${head(`POST ${target}`, 'Content-Length: 5')}hello`, 'hello'],
      [`${head(`POST ${target}`, chunked)}5\r\nhello\r\n0\r\n\r\n`, 'hello'],
    ] as const) {
      const connection = openConnection(t, url).send(bytes)
      connection.finish()

      t.equal((await connection.answer()).body.toString(), `${target} ${body}`)
      t.equal(await connection.ended(), 'closed')
    }
  }
})

t.test('pipelined requests that come together with the FIN are all answered', async t => {
  const { url } = await startHttpServer(t, (request, response) => {
    setTimeout(() => collectBody(request, body => reply(response, `${request.head.target} ${body}`)), 20)
  })
  const connection = openConnection(t, url)
  connection.send(`${head('GET /a')}${head('POST /b', 'Content-Length: 5')}hello${head('GET /c')}`).finish()

  for (const body of ['/a ', '/b hello', '/c ']) t.equal((await connection.answer()).body.toString(), body)
  t.equal(await connection.ended(), 'closed')
})

t.test('pipelined requests that are answered at once are all answered before the FIN counts', async t => {
  const { url, drops } = await startHttpServer(t, ({ head }, response) => reply(response, head.target))
  const connection = openConnection(t, url)
  connection.send(Array.from({ length: 500 }, (_, nth) => head(`GET /${nth}`)).join('')).finish()

  for (let nth = 0; nth < 500; nth++) t.equal((await connection.answer()).body.toString(), `/${nth}`)
  t.equal(await connection.ended(), 'closed')
  t.same(drops, [])
})

t.test('a head that the FIN cuts off is 400, also behind a request that was whole', async t => {
  const { url, drops } = await startHttpServer(
    t,
    ({ head }, response) => void setTimeout(reply, 20, response, head.target),
  )
  const alone = openConnection(t, url).send('GET /a HTTP/1.1\r\nHo')
  const behind = openConnection(t, url).send(`${head('GET /a')}GET /b HT`)
  alone.finish()
  behind.finish()

  t.equal((await behind.answer()).body.toString(), '/a')
  for (const connection of [alone, behind]) {
    t.equal((await connection.answer()).status, 400)
    t.equal(await connection.ended(), 'closed')
  }
  t.same(drops, ['invalid', 'invalid'])
})

t.test('a body that the FIN cuts off gets no answer, whenever it is read', async t => {
  for (const readsLater of [false, true]) {
    const gone = Promise.withResolvers<void>()
    const { url } = await startHttpServer(t, (request, response) => {
      response.listener = { onClose: gone.resolve, onDrain: () => undefined }
      const read = (): void => collectBody(request, () => t.fail('the body is not whole'))
      if (readsLater) setTimeout(read, 20)
      else read()
    })
    const connection = openConnection(t, url).send(`${head('POST /', 'Content-Length: 10')}hello`)
    connection.finish()

    await gone.promise
    t.not(await connection.ended(), 'open')
    t.equal(connection.received.length, 0)
  }
})

t.test(
  'a hundred clients that send their request and their FIN together are all answered, however long it takes',
  async t => {
    const count = 100
    const waiting: Response[] = []
    const { url } = await startHttpServer(t, (_request, response) => void waiting.push(response))
    const clients = Array.from({ length: count }, () => {
      const connection = openConnection(t, url).send(head('GET /'))
      connection.finish()
      return connection
    })
    await eventually(() => waiting.length === count)
    // Longer than a client that has left is waited for.
    await new Promise(resolve => setTimeout(resolve, 3 * halfCloseGraceMs))
    for (const response of waiting) reply(response, 'here')

    for (const client of clients) {
      const { status } = await client.answer()
      if (status !== 200) t.equal(status, 200)
    }
    t.equal(waiting.length, count)
  },
)

t.test('a client whose FIN comes later than its request is taken for one that has left', async t => {
  const gone = Promise.withResolvers<void>()
  const { url, requests } = await startHttpServer(t, (_request, response) => {
    response.listener = { onClose: gone.resolve, onDrain: () => undefined }
  })
  const connection = openConnection(t, url).send(head('GET /'))
  await eventually(() => performance.now() - (requests[0]?.startedAtMs ?? Number.POSITIVE_INFINITY) > 20)
  connection.finish()

  await gone.promise
})

t.test('garbage behind valid requests is 400 in its turn, and the connection closes', async t => {
  for (const count of [1, 3]) {
    const { url, refusals, drops } = await startHttpServer(t, ({ head }, response) => {
      setTimeout(reply, 5, response, head.target)
    })
    const connection = openConnection(t, url).send(`${head('GET /a').repeat(count)}garbage\r\n\r\n`)

    for (let nth = 0; nth < count; nth++) t.equal((await connection.answer()).body.toString(), '/a')
    t.equal((await connection.answer()).status, 400)
    t.equal(await connection.ended(), 'closed')
    t.same(refusals, ['BAD_REQUEST'])
    t.same(drops, ['invalid'])
  }
})

t.test('a request whose chunks are broken is 400, behind the answer to the request before it', async t => {
  const { url } = await startHttpServer(t, (request, response) => {
    setTimeout(() => collectBody(request, () => reply(response, 'whole')), 5)
  })
  const connection = openConnection(t, url)
  connection.send(`${head('GET /')}${head('POST /', chunked)}zz\r\n`)

  t.equal((await connection.answer()).body.toString(), 'whole')
  t.equal((await connection.answer()).status, 400)
  t.equal(await connection.ended(), 'closed')
})

t.test('a handler learns that its request was refused for broken chunks, and cannot answer any more', async t => {
  const told: string[] = []
  const { url } = await startHttpServer(t, (request, response) => {
    response.listener = {
      onClose: () => {
        told.push('closed')
        reply(response, 'too late')
      },
      onDrain: () => undefined,
    }
    collectBody(request, () => told.push('whole'))
  })
  const connection = openConnection(t, url).send(head('POST /', chunked))
  connection.send('5\r\nhello!\r\n')

  t.equal((await connection.answer()).status, 400)
  await connection.ended()
  t.same(told, ['closed'])
  t.equal(connection.received.length, 0)
})

t.test('a refusal never stands in the middle of an answer', async t => {
  const { url, refusals, drops } = await startHttpServer(t, (request, response) => {
    collectBody(request, () => undefined)
    response.writeHead({ status: 200, lines: '', length: '10', hasDate: false })
    response.write(Buffer.from('first'))
  })
  const connection = openConnection(t, url).send(head('POST /', chunked))
  await connection.receive(1)
  connection.send('zz\r\n')

  t.notOk((await connection.answer()).isComplete)
  t.equal(connection.received.length, 0)
  t.same(refusals, [])
  t.same(drops, ['invalid'])
})

t.test('bytes of another protocol are refused before a head is whole', async t => {
  const { url, refusals } = await startHttpServer(t, () => t.fail('none of them is a request'))
  const refused = [
    '\x16\x03\x01\x02',
    'SSH-2.0-OpenSSH_9.7\r\n',
    'a'.repeat(40),
    'get /\r\n',
    'GET / HTTP/2.0\r\n',
    '\n',
  ]
  for (const bytes of refused) {
    const connection = openConnection(t, url).send(bytes)
    t.ok([400, 501].includes((await connection.answer()).status), JSON.stringify(bytes))
    t.equal(await connection.ended(), 'closed')
  }
  t.equal(refusals.length, refused.length)
})

t.test('an upgraded socket gives first what came behind the handshake, and is no HTTP connection any more', async t => {
  const { server, url, requests } = await startHttpServer(t, request => {
    setTimeout(() => {
      const socket = request.upgrade()
      socket.write(switchingProtocols)
      socket.pipe(socket)
    }, 5)
  })
  const connection = openConnection(t, url).send(`${head('GET /', 'Connection: upgrade', 'Upgrade: websocket')}early`)

  t.equal((await connection.answer()).status, 101)
  t.equal((await connection.receive(5)).toString(), 'early')
  t.equal((await connection.send(head('GET /')).receive(10)).toString().slice(5, 10), 'GET /')
  t.equal(requests.length, 1)
  t.equal(server.openConnections(), 1)
})

t.test('a client that sends its FIN behind the handshake cannot be upgraded', async t => {
  for (const frames of ['', 'frames']) {
    const closed = Promise.withResolvers<void>()
    const { server, url } = await startHttpServer(t, request => {
      setTimeout(() => {
        const socket = request.upgrade().once('close', () => closed.resolve())
        socket.write(switchingProtocols)
        socket.pipe(socket)
      }, 20)
    })
    openConnection(t, url)
      .send(head('GET /', 'Connection: upgrade', 'Upgrade: websocket') + frames)
      .finish()

    await closed.promise
    await eventually(() => server.openConnections() === 0)
  }
})

t.test('a connection is kept where the client lets it be, by the rules of its version', async t => {
  const { url } = await startHttpServer(t, (_request, response) => reply(response, 'here'), {
    keepAliveTimeoutMs: 33_000,
  })
  for (const [version, field, isKept] of [
    ['1.1', 'X-A: 1', true],
    ['1.1', 'Connection: close', false],
    ['1.1', 'Connection: x-own, Close', false],
    ['1.1', 'Connection: keep-alive, close', false],
    ['1.0', 'X-A: 1', false],
    ['1.0', 'Connection: keep-alive', true],
    ['1.0', 'Connection: keep-alive, close', false],
  ] as const) {
    const connection = openConnection(t, url).send(`GET / HTTP/${version}\r\nHost: gw.test\r\n${field}\r\n\r\n`)
    const answer = await connection.answer()
    const what = `HTTP/${version} ${field}`

    t.equal(headerOf(answer, 'connection'), isKept ? 'keep-alive' : 'close', what)
    t.equal(headerOf(answer, 'keep-alive'), isKept ? 'timeout=33' : undefined, what)
    if (isKept) t.equal((await connection.send(head('GET /')).answer()).status, 200, what)
    else t.equal(await connection.ended(), 'closed', what)
  }
})

t.test('a client that is not told to continue is closed behind the answer, and the others go on', async t => {
  const { url } = await startHttpServer(t, (request, response) => {
    if (request.head.target === '/early') return reply(response, 'early', 401)
    response.writeContinue()
    collectBody(request, body => reply(response, body))
  })
  const expecting = (target: string, version = '1.1'): string =>
    `POST ${target} HTTP/${version}\r\nHost: gw.test\r\nExpect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\n`

  const early = openConnection(t, url).send(expecting('/early'))
  t.equal(headerOf(await early.answer(), 'connection'), 'close')
  t.equal(await early.ended(), 'closed')
  const told = openConnection(t, url).send(expecting('/told'))
  t.equal((await told.answer()).status, 100)
  const answer = await told.send('hello').answer()
  t.equal(answer.body.toString(), 'hello')
  t.equal(headerOf(answer, 'connection'), 'keep-alive')
  const old = openConnection(t, url).send(`${expecting('/told', '1.0')}hello`)
  t.equal((await old.answer()).status, 200, 'HTTP/1.0 knows no interim answers')
})

t.test(
  'the body of a request that was answered early is read and dropped, and the connection serves another',
  async t => {
    const { url } = await startHttpServer(t, ({ head }, response) => reply(response, head.target, 404))
    const connection = openConnection(t, url)
    connection.send(`${head('POST /a', 'Content-Length: 500000')}${'a'.repeat(250_000)}`)
    t.equal((await connection.answer()).body.toString(), '/a')
    connection.send('a'.repeat(250_000) + head('POST /b', chunked))
    t.equal((await connection.answer()).body.toString(), '/b')

    t.equal((await connection.send(`5\r\nhello\r\n0\r\n\r\n${head('GET /c')}`).answer()).body.toString(), '/c')
  },
)

t.test('a body waits in the socket until it is read, and while its reader pauses', async t => {
  const most = 64 * 1024 * 1024
  let resume = (): void => undefined
  let received = 0
  const { url } = await startHttpServer(t, ({ body }, response) => {
    body?.read({
      onData: piece => {
        if (received === 0) body.pause()
        received += piece.length
      },
      onEnd: () => reply(response, String(received)),
    })
    resume = () => body?.resume()
  })
  const connection = openConnection(t, url)
    .send(head('POST /', `Content-Length: ${most}`))
    .send(Buffer.alloc(most))
  let before = -1
  let same = 0
  await eventually(() => {
    same = connection.unsentBytes === before ? same + 1 : 0
    before = connection.unsentBytes
    return received > 0 && same > 20
  })
  t.ok(connection.unsentBytes > most / 2, `${connection.unsentBytes} bytes are unsent`)
  resume()

  t.equal((await connection.answer()).body.toString(), String(most))
})

t.test('the peer is the address of the other end, an IPv4 address as such', async t => {
  const { server, url, requests } = await startHttpServer(t, (_request, response) => reply(response))
  const any = server.createListener()
  await listenOn(t, server, any)
  await openConnection(t, url).send(head('GET /')).answer()

  t.equal(requests[0]?.peer, '127.0.0.1')
})

t.test(
  'a client that closes its connection in one burst with its request has left when a write finds it gone',
  async t => {
    const gone = Promise.withResolvers<void>()
    const { url } = await startHttpServer(t, (_request, response) => {
      response.listener = { onClose: gone.resolve, onDrain: () => undefined }
      response.writeHead({ status: 200, lines: '', length: '10', hasDate: false })
      response.flush()
    })
    const client = connect(Number(new URL(url).port), '127.0.0.1', () => {
      client.write(head('GET /'), () => client.destroy())
    })

    await gone.promise
  },
)
