import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type Reply, writeReply } from '../../src/http/reply.ts'
import { createTrafficServer, defaultTrafficServerOptions } from '../../src/http/traffic-server.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'

const tooLarge: Reply = { status: 413, headers: [], body: 'too much', close: true }

const listen = async (t: Test, answer: (res: ServerResponse) => void) => {
  const { server } = createTrafficServer(defaultTrafficServerOptions, {
    request: (_req, res) => answer(res),
    upgrade: (_req, socket) => socket.destroy(),
    refused: () => undefined,
    dropped: () => undefined,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** More than the buffers of a connection hold. */
const most = 20 * 1024 * 1024

const post = (framing: string): string => `POST / HTTP/1.1\r\nHost: gw.test\r\n${framing}\r\n\r\n`

t.test('a client that sends its body to the end, then reads, gets the refusal and no reset', async t => {
  const url = await listen(t, res => writeReply(res, tooLarge, 'id'))
  const chunk = `${most.toString(16)}\r\n${'a'.repeat(most)}\r\n0\r\n\r\n`
  for (const bytes of [
    post(`Content-Length: ${most}`) + 'a'.repeat(most),
    post(`Content-Length: ${most}\r\nConnection: close`) + 'a'.repeat(most),
    post('Transfer-Encoding: chunked') + chunk,
  ]) {
    const connection = openConnection(t, url).send(bytes)
    const refused = await connection.answer()

    t.equal(refused.body.toString(), 'too much')
    t.equal(headerOf(refused, 'connection'), 'close')
    t.equal(await connection.ended(), 'closed')
    await eventually(() => connection.unsentBytes === 0)
    t.equal(connection.received.length, 0)
  }
})

t.test('the refusal is there before the body is', async t => {
  const url = await listen(t, res => writeReply(res, tooLarge, 'id'))
  const connection = openConnection(t, url).send(`${post('Content-Length: 10')}hello`)

  t.equal((await connection.answer()).status, 413)
  t.equal(connection.state, 'open')
  connection.send('world')
  t.equal(await connection.ended(), 'closed')
})

t.test('a client that sends no more is not waited for longer', async t => {
  const url = await listen(t, res => writeReply(res, tooLarge, 'id'))
  const connection = openConnection(t, url).send(`${post('Content-Length: 10')}hello`)

  t.equal((await connection.answer()).status, 413)
  t.equal(await connection.ended(), 'closed')
})

t.test('a request that is behind the body of a refused one gets no answer', async t => {
  const url = await listen(t, res => writeReply(res, tooLarge, 'id'))
  const connection = openConnection(t, url).send(
    `${post('Content-Length: 5')}helloGET / HTTP/1.1\r\nHost: gw.test\r\n\r\n`,
  )

  t.equal((await connection.answer()).status, 413)
  await connection.ended()
  t.equal(connection.received.length, 0)
})

t.test('bytes that go on behind what is no request do not reset the refusal away', async t => {
  const url = await listen(t, () => t.fail('none of this is a request'))
  for (const [bytes, status] of [
    [`GET / HTTP/1.1\r\nHost: gw.test\r\n${'a: b\r\n'.repeat(1_000_000)}\r\n`, 431],
    [`GET / HTTP/1.1\r\nHost: gw.test\r\nX-A: ${'a'.repeat(most)}\r\n\r\n`, 431],
    [`no request\r\n${'a'.repeat(most)}`, 400],
    [
      `POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${'a'.repeat(most)}`,
      400,
    ],
  ] as const) {
    const connection = openConnection(t, url).send(bytes)
    const refused = await connection.answer()

    t.equal(refused.status, status)
    t.equal(await connection.ended(), 'closed', `${status}`)
    await eventually(() => connection.unsentBytes === 0)
  }
})

t.test('HEAD is answered as well where that is the last of the connection', async t => {
  const url = await listen(t, res => writeReply(res, tooLarge, 'id'))
  const connection = openConnection(t, url).send('HEAD / HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n\r\n')

  t.match(await connection.answer('HEAD'), { status: 413, body: Buffer.alloc(0) })
  t.equal(await connection.ended(), 'closed')
})
