import t, { type Test } from 'tap'
import type { Response } from '../../../src/http/server/response.ts'
import { eventually } from '../../support/eventually.ts'
import { headerOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { head, listenOn, reply, startHttpServer, switchingProtocols } from '../support/http-server.ts'

t.test('a header with more fields than the limit is 431, and no field of it is dropped silently', async t => {
  const { url, refusals, drops } = await startHttpServer(t, ({ head }, response) => {
    reply(response, String(head.kinds.length))
  })
  const fields = (count: number) => Array.from({ length: count }, (_, place) => `X-${place}: a`)

  const whole = await openConnection(t, url)
    .send(head('GET /', ...fields(99)))
    .answer()
  const connection = openConnection(t, url).send(head('GET /', ...fields(100)))
  const refused = await connection.answer()

  t.equal(whole.body.toString(), '100', 'with Host')
  t.match(JSON.parse(refused.body.toString()), {
    status: 431,
    code: 'HEADERS_TOO_LARGE',
    request_id: headerOf(refused, 'x-request-id'),
  })
  t.not(await connection.ended(), 'open')
  t.same(refusals, ['HEADERS_TOO_LARGE'])
  t.same(drops, ['invalid'])
})

t.test('a header of exactly the most bytes is read, and one byte more is 431, in whatever pieces it comes', async t => {
  const maxHeaderBytes = 1000
  const { url } = await startHttpServer(t, (_request, response) => reply(response), { maxHeaderBytes })
  const ofBytes = (bytes: number): string => {
    const empty = head('GET /', 'X-A: ')
    return head('GET /', `X-A: ${'a'.repeat(bytes + 4 - empty.length)}`)
  }
  const statusOf = async (bytes: string, cutAt: number): Promise<number> => {
    const connection = openConnection(t, url)
    const before = (await connection.send(head('GET /')).answer()).status
    t.equal(before, 200)
    connection.send(bytes.slice(0, cutAt))
    // Another request that is answered meanwhile: the first piece has been read alone.
    await openConnection(t, url).send(head('GET /')).answer()
    return (await connection.send(bytes.slice(cutAt)).answer()).status
  }

  for (const fromEnd of [0, 1, 2, 3, 4, 5, 500]) {
    t.equal(await statusOf(ofBytes(maxHeaderBytes), maxHeaderBytes + 4 - fromEnd), 200, `${fromEnd}`)
    t.equal(await statusOf(ofBytes(maxHeaderBytes + 1), maxHeaderBytes + 5 - fromEnd), 431, `${fromEnd}`)
  }
})

t.test('only a GET that asks for a WebSocket alone is marked as a handshake', async t => {
  const { url } = await startHttpServer(t, ({ head, upgrade }, response) => {
    if (head.asksForWebSocket) upgrade().end(switchingProtocols)
    else reply(response)
  })
  const ask = async (method: string, protocol: string) => {
    const bytes = head(`${method} /`, 'Connection: Upgrade', `Upgrade: ${protocol}`)
    return (await openConnection(t, url).send(bytes).answer(method)).status
  }

  t.equal(await ask('GET', 'WebSocket'), 101)
  for (const [method, protocol] of [
    ['POST', 'websocket'],
    ['GET', 'h2c'],
    ['GET', 'websocket, h2c'],
  ] as const) {
    t.equal(await ask(method, protocol), 200, `${method} ${protocol}`)
  }
})

/** A server with a limit of connections; it answers `/busy` when the test ends that request. */
const startSmallServer = async (t: Test, maxConnections: number) => {
  const held: Response[] = []
  const running = await startHttpServer(
    t,
    ({ head }, response) => {
      if (head.target === '/busy') held.push(response)
      else reply(response)
    },
    { maxConnections },
  )
  return { ...running, held }
}

t.test('at the limit of connections the idle ones make room for others, and a busy one stays', async t => {
  const { url, drops, held } = await startSmallServer(t, 10)
  const busy = openConnection(t, url).send(head('GET /busy'))
  const kept = Array.from({ length: 9 }, () => openConnection(t, url).send(head('GET /')))
  await Promise.all(kept.map(connection => connection.answer()))
  await eventually(() => held.length === 1)

  t.not(await openConnection(t, url).ended(), 'open')
  for (const connection of kept) t.not(await connection.ended(), 'open')
  t.same(drops, ['limit', ...kept.map(() => 'evicted_idle')])

  t.equal((await openConnection(t, url).send(head('GET /')).answer()).status, 200)
  for (const response of held) reply(response, 'late')
  t.equal((await busy.answer()).body.toString(), 'late')
})

t.test('the limit of connections is for those of all listeners together', async t => {
  const { server, url, drops, held } = await startSmallServer(t, 10)
  const lentUrl = await listenOn(t, server, server.createListener())
  const busy = Array.from({ length: 10 }, (_, nth) => openConnection(t, nth % 2 === 0 ? url : lentUrl))
  for (const connection of busy) connection.send(head('GET /busy'))
  await eventually(() => held.length === 10)

  for (const full of [url, lentUrl]) t.not(await openConnection(t, full).ended(), 'open')
  t.equal(server.openConnections(), 10)
  t.same(drops, ['limit', 'limit'])

  for (const response of held) reply(response, 'late')
  for (const connection of busy) t.equal((await connection.answer()).status, 200)
})

t.test('connections that have sent nothing make room as well, and one with half a header stays', async t => {
  const { server, url, drops } = await startSmallServer(t, 10)
  const silent = Array.from({ length: 9 }, () => openConnection(t, url))
  const half = openConnection(t, url).send(head('GET /'))
  t.equal((await half.answer()).status, 200)
  half.send('GET / HTTP/1.1\r\nHost: ')
  await eventually(() => server.openConnections() === 10)
  await openConnection(t, url).ended()
  for (const connection of silent) t.not(await connection.ended(), 'open')

  t.equal((await half.send('gw.test\r\n\r\n').answer()).status, 200)
  t.same(drops, ['limit', ...silent.map(() => 'evicted_idle')])
})

t.test('connections are counted while they are open, WebSockets among them', async t => {
  const { server, url } = await startHttpServer(t, ({ head, upgrade }, response) => {
    if (!head.asksForWebSocket) return reply(response)
    const socket = upgrade()
    socket.write(switchingProtocols)
    socket.pipe(socket)
  })
  const kept = openConnection(t, url).send(head('GET /'))
  await kept.answer()
  const webSocket = openConnection(t, url).send(head('GET /', 'Connection: upgrade', 'Upgrade: websocket'))
  await webSocket.answer()

  t.equal(server.openConnections(), 2)
  t.equal(server.acceptedConnections(), 2)
  t.equal(server.takeMostConnections(), 2)
  kept.close()
  webSocket.close()
  await eventually(() => server.openConnections() === 0)
  t.equal(server.takeMostConnections(), 2, 'both were open since the last call')
  t.equal(server.takeMostConnections(), 0)
  t.equal(server.acceptedConnections(), 2)
})

t.test('a lent listener serves the same server, and its connections outlive it', async t => {
  const { server, url, requests } = await startHttpServer(t, ({ head }, response) => reply(response, head.target), {
    keepAliveTimeoutMs: 100,
  })
  const lent = server.createListener()
  const connection = openConnection(t, await listenOn(t, server, lent)).send(head('GET /lent'))
  t.equal((await connection.answer()).body.toString(), '/lent')
  lent.close()

  t.equal((await connection.send(head('GET /again')).answer()).body.toString(), '/again')
  t.equal((await openConnection(t, url).send(head('GET /own')).answer()).body.toString(), '/own')
  t.equal(requests.length, 3)
  t.equal(await connection.ended(), 'closed', 'the idle timeout ends it')
})

t.test('the server is sending while a client has yet to take an answer', async t => {
  const { server, url } = await startHttpServer(t, (_request, response) => reply(response, 'a'.repeat(30_000_000)))
  t.notOk(server.isSending())
  const connection = openConnection(t, url).send(head('GET /', 'Connection: close'))
  await eventually(() => server.isSending())
  connection.close()

  await eventually(() => !server.isSending())
})

t.test('a client that leaves by itself is not counted as dropped', async t => {
  const { server, url, drops } = await startHttpServer(t, (_request, response) => reply(response))
  openConnection(t, url).reset()
  openConnection(t, url).send('GET / HTTP/1.1\r\nHost: gw').reset()
  openConnection(t, url).finish()
  const asked = openConnection(t, url).send(head('GET /', 'Connection: close'))
  await asked.answer()
  t.equal(await asked.ended(), 'closed')
  await eventually(() => server.openConnections() === 0)

  t.same(drops, [])
})

t.test('closing all connections ends those that are busy too', async t => {
  const { server, url, requests } = await startHttpServer(t, () => undefined)
  const connections = [openConnection(t, url).send(head('GET /')), openConnection(t, url)]
  await eventually(() => requests.length === 1 && server.openConnections() === 2)
  server.closeAllConnections()

  for (const connection of connections) t.not(await connection.ended(), 'open')
  await eventually(() => server.openConnections() === 0)
})
