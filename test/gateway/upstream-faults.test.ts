import type { Socket } from 'node:net'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { headerOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'
import { type RecordedRequest, type Script, startCountingUpstream } from '../support/recording-upstream.ts'
import { sampleOf, scrape, startGateway } from './support/running.ts'

/** What the upstream does, by the last segment of the path that is asked for. */
const scripts: Readonly<Record<string, Script>> = {
  silent: () => undefined,
  reset: socket => socket.resetAndDestroy(),
  short: socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    socket.end('x'.repeat(40_010))
  },
  'no-last-chunk': socket => {
    socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
  },
  'broken-chunk': socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n')
  },
  'reset-in-body': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello', () =>
      setImmediate(() => socket.resetAndDestroy()),
    )
  },
  'until-close': socket => {
    socket.end('HTTP/1.1 200 OK\r\n\r\nhello')
  },
  garbage: socket => {
    socket.write('this is not HTTP\r\n\r\n')
  },
  'two-lengths': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!')
  },
  'length-and-chunked': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n')
  },
  'coded-for-the-transfer': socket => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n')
  },
  'huge-header': socket => {
    socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(200_000)}\r\ncontent-length: 0\r\n\r\n`)
  },
  'unasked-upgrade': socket => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: evil\r\nconnection: upgrade\r\n\r\n')
  },
  'no-content-with-body': socket => {
    socket.write('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello')
  },
  'not-modified-with-length': socket => {
    socket.write('HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\netag: "a"\r\n\r\n')
  },
  'body-for-head': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
  },
  'interim-answers': socket => {
    socket.write(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    )
    answer(socket, 'final')
  },
  'odd-names': socket => {
    socket.write('HTTP/1.1 200 OK\r\nconstructor: a\r\n__proto__: b\r\ncontent-length: 2\r\n\r\nok')
  },
  'set-cookies': socket => {
    socket.write('HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\ncontent-length: 2\r\n\r\nok')
  },
  'hop-by-hop': socket => {
    socket.write(
      'HTTP/1.1 200 OK\r\nconnection: x-own, keep-alive\r\nx-own: 1\r\nkeep-alive: timeout=1\r\nproxy-authenticate: Basic\r\nx-request-id: evil\r\nx-kept: 1\r\ncontent-length: 2\r\n\r\nok',
    )
  },
  'torn-continue': socket => {
    const bytes = 'HTTP/1.1 100 Continue\r\nx-a: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'
    for (const [at, byte] of [...bytes].entries()) setTimeout(() => socket.write(byte), at)
    setTimeout(() => answer(socket, 'final'), bytes.length)
  },
  'continue-in-body': socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 29\r\n\r\n')
    setTimeout(() => socket.write('HTTP/1.1 100 Continue\r\n\r\nbody'), 20)
  },
  ok: socket => answer(socket, 'ok'),
}

const answer = (socket: Socket, body: string): void => {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

const follow: Script = (socket, request, count) => scripts[nameOf(request)]?.(socket, request, count)

const nameOf = ({ target }: RecordedRequest): string => target.slice(target.lastIndexOf('/') + 1)

const get = (name: string, method = 'GET'): string => `${method} /up/${name} HTTP/1.1\r\nHost: gw.test\r\n\r\n`

t.test("what an upstream does wrong is told apart, and is nobody else's fault", async t => {
  const upstream = await startCountingUpstream(t, follow)
  const gateway = await startGateway(t, { up: upstream.url, gone: `http://127.0.0.1:${await findFreePort()}` })
  const { url } = gateway
  const workers = gateway.workerPids()
  const connect = () => openConnection(t, url)
  const failures = async (reason: string) => sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', reason)

  await t.test('U01: a refused connection is 502, whatever the method', async t => {
    for (const method of ['GET', 'POST']) {
      const refused = await connect()
        .send(`${method} /gone/x HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 0\r\n\r\n`)
        .answer()

      t.equal(refused.status, 502)
      t.equal(headerOf(refused, 'content-type'), 'application/problem+json')
      t.match(JSON.parse(refused.body.toString()), {
        status: 502,
        code: 'UPSTREAM_UNREACHABLE',
        request_id: headerOf(refused, 'x-request-id'),
      })
    }
  })

  await t.test('U02: an upstream that never answers is 504, and its connection is closed', async t => {
    const late = await connect().send(get('silent')).answer()

    t.equal(late.status, 504)
    t.match(JSON.parse(late.body.toString()), { code: 'UPSTREAM_TIMEOUT' })
    await eventually(() => upstream.openConnections() === 0)
  })

  await t.test('U03: a reset before the answer is tried again for a GET, once, and never for a POST', async t => {
    const count = () => upstream.requests.filter(request => nameOf(request) === 'reset').length

    t.equal((await connect().send(get('reset')).answer()).status, 502)
    t.equal(count(), 2)
    const post = await connect().send('POST /up/reset HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 1\r\n\r\na').answer()
    t.equal(post.status, 502)
    t.equal(count(), 3)
  })

  await t.test('U04: a body that stops short stops short at the client', async t => {
    const connection = connect().send(get('short'))
    const broken = await connection.answer()

    t.equal(headerOf(broken, 'content-length'), '100000')
    t.equal(broken.body.length, 40_010)
    t.notOk(broken.isComplete)
    t.not(connection.state, 'open')
    await eventually(async () => (await failures('reset_mid_body')) >= 1)
  })

  await t.test('U05: a chunked body without its last chunk has none at the client either', async t => {
    for (const name of ['no-last-chunk', 'broken-chunk']) {
      const broken = await connect().send(get(name)).answer()

      t.equal(broken.body.toString(), 'hello', name)
      t.notOk(broken.isComplete, name)
    }
  })

  await t.test('U06: a reset in mid-body breaks the answer off', async t => {
    const broken = await connect().send(get('reset-in-body')).answer()

    t.notOk(broken.isComplete)
  })

  await t.test('U07: a body that ends with the connection arrives whole', async t => {
    const whole = await connect().send(get('until-close')).answer()

    t.match({ body: whole.body.toString(), isComplete: whole.isComplete }, { body: 'hello', isComplete: true })
  })

  await t.test('what is not HTTP, or could be framed in two ways, is 502', async t => {
    for (const name of [
      'garbage',
      'two-lengths',
      'length-and-chunked',
      'coded-for-the-transfer',
      'huge-header',
      'unasked-upgrade',
    ]) {
      const refused = await connect().send(get(name)).answer()

      t.equal(refused.status, 502, name)
      t.notMatch(refused.body.toString(), /hello|evil/, name)
      if (name !== 'unasked-upgrade') t.match(refused.body.toString(), /"code":"UPSTREAM_INVALID"/, name)
    }
  })

  await t.test('U08: answers without a body are framed so, and the connection goes on', async t => {
    const cases = [
      ['no-content-with-body', 'GET', 204],
      ['not-modified-with-length', 'GET', 304],
      ['body-for-head', 'HEAD', 200],
    ] as const
    for (const [name, method, status] of cases) {
      const connection = connect().send(get(name, method))
      const bare = await connection.answer(method)
      const next = await connection.send(get('ok')).answer()

      t.equal(bare.status, status, name)
      t.equal(next.body.toString(), 'ok', name)
    }
  })

  await t.test('interim answers are left out', async t => {
    for (const name of ['interim-answers', 'torn-continue']) {
      const final = await connect().send(get(name)).answer()

      t.match({ status: final.status, body: final.body.toString() }, { status: 200, body: 'final' }, name)
    }
    const whole = await connect().send(get('continue-in-body')).answer()
    t.equal(whole.body.toString(), 'HTTP/1.1 100 Continue\r\n\r\nbody')
  })

  await t.test('fields with odd names and several of one name pass', async t => {
    const odd = await connect().send(get('odd-names')).answer()
    const cookies = await connect().send(get('set-cookies')).answer()

    t.equal(headerOf(odd, 'constructor'), 'a')
    t.equal(headerOf(odd, '__proto__'), 'b')
    t.same(
      cookies.fields.filter(([name]) => name === 'set-cookie').map(([, value]) => value),
      ['a=1', 'b=2'],
    )
  })

  await t.test("hop-by-hop fields and the upstream's own request id end at the gateway", async t => {
    const { fields } = await connect().send(get('hop-by-hop')).answer()
    const names = fields.map(([name]) => name)

    t.ok(names.includes('x-kept'))
    for (const name of ['x-own', 'proxy-authenticate']) t.notOk(names.includes(name), name)
    t.notMatch(JSON.stringify(fields), /evil|timeout=1"/)
  })

  await t.test('U13: a client that leaves takes its upstream request with it', async t => {
    const connection = connect().send(get('silent'))
    await eventually(() => upstream.openConnections() === 1)
    const leftAtMs = performance.now()
    connection.reset()

    await eventually(() => upstream.openConnections() === 0, 500)
    t.ok(performance.now() - leftAtMs < 500)
    await eventually(async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight', 'up') === 0)
    await eventually(async () => (await failures('client_gone')) === 1)
    await eventually(() => gateway.output.some(line => line.includes('"status":499')))
  })

  await t.test('every failure is counted by its reason, and no worker died', async t => {
    for (const reason of ['connect', 'timeout', 'reset', 'reset_mid_body', 'invalid', 'client_gone']) {
      t.ok((await failures(`"${reason}"`)) > 0, reason)
    }
    t.same(gateway.workerPids(), workers)
  })
})
