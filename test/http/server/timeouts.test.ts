import { connect } from 'node:net'
import t from 'tap'
import type { Response } from '../../../src/http/server/response.ts'
import { eventually } from '../../support/eventually.ts'
import { headerOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { collectBody, head, reply, startHttpServer, switchingProtocols } from '../support/http-server.ts'

t.test('a header that does not come in time is 408, as a problem', async t => {
  const { url, refusals, drops } = await startHttpServer(t, (_request, response) => reply(response), {
    headersTimeoutMs: 100,
  })
  const connection = openConnection(t, url).send('GET / HTTP/1.1\r\nHost: gw')
  const refused = await connection.answer()

  t.equal(refused.status, 408)
  t.match(JSON.parse(refused.body.toString()), {
    code: 'REQUEST_TIMEOUT',
    request_id: headerOf(refused, 'x-request-id'),
  })
  t.equal(await connection.ended(), 'closed')
  t.same(refusals, ['REQUEST_TIMEOUT'])
  t.same(drops, ['timeout'])
})

t.test('the header of a later request has its own time', async t => {
  const { url } = await startHttpServer(t, (_request, response) => reply(response), { headersTimeoutMs: 200 })
  const kept = openConnection(t, url)
  const late = openConnection(t, url)
  for (const connection of [kept, late]) t.equal((await connection.send(head('GET /')).answer()).status, 200)
  // An empty line behind a request begins no header.
  kept.send('\r\n')
  await openConnection(t, url).ended()
  late.send('GET / HTTP/1.1\r\n')
  t.equal((await late.answer()).status, 408)

  kept.send('GET / HTTP/1.1\r\n')
  t.equal((await openConnection(t, url).send(head('GET /')).answer()).status, 200)
  t.equal((await kept.send('Host: gw.test\r\n\r\n').answer()).status, 200)
})

t.test(
  'a body that does not arrive in time is 408, and its handler learns that the request is over (RFC 9110 section 15.5.9; checklist L10)',
  async t => {
    const gone = Promise.withResolvers<void>()
    const { url, refusals, drops } = await startHttpServer(
      t,
      (request, response) => {
        response.listener = { onClose: gone.resolve, onDrain: () => undefined }
        collectBody(request, () => t.fail('the body is not whole'))
      },
      { requestTimeoutMs: 100 },
    )
    const connection = openConnection(t, url).send(`${head('POST /', 'Content-Length: 10')}hello`)

    t.equal((await connection.answer()).status, 408)
    t.equal(await connection.ended(), 'closed')
    await gone.promise
    t.same(refusals, [], 'its handler counts it')
    t.same(drops, ['timeout'])
  },
)

t.test('a request whose body has come whole is not timed', async t => {
  const held: Response[] = []
  const { url } = await startHttpServer(
    t,
    (request, response) => {
      if (request.head.target === '/slow') collectBody(request, () => undefined)
      else collectBody(request, () => held.push(response))
    },
    { requestTimeoutMs: 50 },
  )
  const connection = openConnection(t, url).send(`${head('POST /', 'Content-Length: 5')}hello`)
  await eventually(() => held.length === 1)
  const slow = openConnection(t, url).send(head('POST /slow', 'Content-Length: 5'))
  t.equal((await slow.answer()).status, 408)

  for (const response of held) reply(response, 'late')
  t.equal((await connection.answer()).body.toString(), 'late')
})

t.test('a connection that sends nothing ends without an answer, later than an idle one', async t => {
  const headersTimeoutMs = 2000
  const { url, drops } = await startHttpServer(t, (_request, response) => reply(response), {
    headersTimeoutMs,
    keepAliveTimeoutMs: 100,
  })
  const startedAtMs = performance.now()
  const silent = Array.from({ length: 300 }, () => openConnection(t, url))
  const idle = openConnection(t, url)
  t.equal((await idle.send(head('GET /')).answer()).status, 200)

  t.equal(await idle.ended(), 'closed')
  t.ok(
    silent.every(({ state }) => state === 'open'),
    'an idle connection ends first',
  )
  await Promise.all(silent.map(connection => connection.ended()))
  t.ok(performance.now() - startedAtMs >= headersTimeoutMs - 50)
  t.ok(silent.every(({ received }) => received.length === 0))
  t.same(
    drops,
    silent.map(() => 'timeout'),
    'each is counted once, and the idle one is not',
  )
})

t.test('a client that sends empty lines only has the time of a header', async t => {
  const { url, drops } = await startHttpServer(t, (_request, response) => reply(response), { headersTimeoutMs: 100 })
  const connection = openConnection(t, url)
  const timer = setInterval(() => connection.send('\r\n'), 10)
  t.teardown(() => clearInterval(timer))

  t.not(await connection.ended(), 'open')
  t.equal(connection.received.length, 0)
  t.same(drops, ['timeout'])
})

t.test('a connection is kept while it is used, and a second longer than its client was told after that', async t => {
  const keepAliveTimeoutMs = 200
  const { url, drops } = await startHttpServer(t, (_request, response) => reply(response), { keepAliveTimeoutMs })
  const connection = openConnection(t, url)
  const startedAtMs = performance.now()
  while (performance.now() - startedAtMs < 3 * keepAliveTimeoutMs) {
    t.equal((await connection.send(head('GET /')).answer()).status, 200)
    await new Promise(resolve => setTimeout(resolve, keepAliveTimeoutMs / 8))
  }
  const lastUsedAtMs = performance.now()

  t.equal(await connection.ended(), 'closed')
  t.ok(performance.now() - lastUsedAtMs >= keepAliveTimeoutMs + 800)
  t.same(drops, [], 'an idle connection is no loss')
})

t.test('a connection whose answer is not ready, or that is a WebSocket, may be silent', async t => {
  const held: Response[] = []
  const { url } = await startHttpServer(
    t,
    ({ head, upgrade }, response) => {
      if (head.asksForWebSocket) {
        const socket = upgrade()
        socket.write(switchingProtocols)
        socket.pipe(socket)
      } else if (head.target === '/idle') {
        reply(response)
      } else {
        held.push(response)
      }
    },
    { keepAliveTimeoutMs: 50, headersTimeoutMs: 50, requestTimeoutMs: 50, sendTimeoutMs: 50 },
  )
  const late = openConnection(t, url).send(head('GET /late'))
  const webSocket = openConnection(t, url).send(head('GET /', 'Connection: upgrade', 'Upgrade: websocket'))
  t.equal((await webSocket.answer()).status, 101)
  await eventually(() => held.length === 1)

  const idle = openConnection(t, url)
  t.equal((await idle.send(head('GET /idle')).answer()).status, 200)
  t.equal(await idle.ended(), 'closed')
  for (const response of held) reply(response, 'late')
  t.equal((await late.answer()).body.toString(), 'late')
  t.equal((await webSocket.send('echo').receive(4)).toString(), 'echo')
})

t.test('a client that takes nothing of its answer is let go, and one that waits for its answer is not', async t => {
  const gone = Promise.withResolvers<void>()
  const held: Response[] = []
  const { url, drops } = await startHttpServer(
    t,
    ({ head }, response) => {
      if (head.target === '/late') return void held.push(response)
      response.listener = { onClose: gone.resolve, onDrain: () => undefined }
      response.writeHead({ status: 200, lines: '', length: undefined, hasDate: false })
      response.write(Buffer.alloc(32 * 1024 * 1024))
    },
    { sendTimeoutMs: 100 },
  )
  const waiting = openConnection(t, url).send(head('GET /late'))
  const deaf = connect(Number(new URL(url).port), '127.0.0.1', () => deaf.write(head('GET /')))
  t.teardown(() => deaf.destroy())

  await gone.promise
  t.same(drops, ['write_stalled'])
  for (const response of held) reply(response, 'late')
  t.equal((await waiting.answer()).body.toString(), 'late')
})

t.test('a client that sends pipelined requests and takes no answer is let go', async t => {
  const { server, url, drops, requests } = await startHttpServer(
    t,
    (_request, response) => reply(response, 'a'.repeat(1_000_000)),
    { sendTimeoutMs: 100 },
  )
  const deaf = connect(Number(new URL(url).port), '127.0.0.1', () => deaf.write(head('GET /').repeat(1000)))
  deaf.on('error', () => undefined)
  t.teardown(() => deaf.destroy())
  await eventually(() => requests.length > 0)
  await eventually(() => server.openConnections() === 0)

  t.same(drops, ['write_stalled'])
  t.ok(requests.length < 100, `${requests.length} requests were begun`)
})

t.test('an answer that its client takes slowly is sent to its end', async t => {
  const most = 32 * 1024 * 1024
  const bytes = Buffer.alloc(most)
  const { url, drops } = await startHttpServer(
    t,
    (_request, response) => {
      response.writeHead({ status: 200, lines: '', length: String(most), hasDate: false })
      response.endShared(bytes)
    },
    { sendTimeoutMs: 1000 },
  )
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(head('GET /')))
  t.teardown(() => socket.destroy())
  let received = 0
  let untilPause = most / 16
  socket.on('data', piece => {
    received += piece.length
    untilPause -= piece.length
    if (untilPause > 0) return
    untilPause = most / 16
    socket.pause()
    setTimeout(() => socket.resume(), 100)
  })

  await eventually(() => received > most)
  t.same(drops, [])
})
