import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { type Reply, writeReply } from '../../../src/http/reply.ts'
import type { Response } from '../../../src/http/server/response.ts'
import { eventually } from '../../support/eventually.ts'
import { headerOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { head, reply, startHttpServer } from '../support/http-server.ts'

const tooLarge: Reply = { status: 413, headers: [], body: 'too much', close: true }

const listen = async (t: Test, answer: (response: Response) => void): Promise<string> =>
  (await startHttpServer(t, (_request, response) => answer(response))).url

/** More than the buffers of a connection hold. */
const most = 20 * 1024 * 1024

const post = (framing: string): string => `POST / HTTP/1.1\r\nHost: gw.test\r\n${framing}\r\n\r\n`

t.test('a client that sends its body to the end, then reads, gets the refusal and no reset', async t => {
  const url = await listen(t, response => writeReply(response, tooLarge, 'id'))
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

t.test('the refusal arrives before the rest of the body is sent', async t => {
  const url = await listen(t, response => writeReply(response, tooLarge, 'id'))
  const connection = openConnection(t, url).send(`${post('Content-Length: 10')}hello`)

  t.equal((await connection.answer()).status, 413)
  t.equal(connection.state, 'open')
  connection.send('world')
  t.equal(await connection.ended(), 'closed')
})

t.test('the server stops waiting for the rest of the body after a second of silence', async t => {
  const url = await listen(t, response => writeReply(response, tooLarge, 'id'))
  const connection = openConnection(t, url).send(`${post('Content-Length: 10')}hello`)

  t.equal((await connection.answer()).status, 413)
  t.equal(await connection.ended(), 'closed')
})

t.test('a request that is behind the body of a refused one gets no answer', async t => {
  const url = await listen(t, response => writeReply(response, tooLarge, 'id'))
  const connection = openConnection(t, url).send(
    `${post('Content-Length: 5')}helloGET / HTTP/1.1\r\nHost: gw.test\r\n\r\n`,
  )

  t.equal((await connection.answer()).status, 413)
  await connection.ended()
  t.equal(connection.received.length, 0)
})

t.test('bytes that follow an invalid request do not reset the refusal away', async t => {
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
  const url = await listen(t, response => writeReply(response, tooLarge, 'id'))
  const connection = openConnection(t, url).send('HEAD / HTTP/1.1\r\nHost: gw.test\r\nConnection: close\r\n\r\n')

  t.match(await connection.answer('HEAD'), { status: 413, body: Buffer.alloc(0) })
  t.equal(await connection.ended(), 'closed')
})

t.test('at most 1 MiB of an unread body is dropped before the connection closes', async t => {
  const url = await listen(t, response => reply(response, 'no', 404))
  const connection = openConnection(t, url).send(post(`Content-Length: ${most}`) + 'a'.repeat(most))
  const answer = await connection.answer()

  t.equal(headerOf(answer, 'connection'), 'keep-alive', 'the rest was not known to be too long then')
  t.equal(await connection.ended(), 'closed')
  await eventually(() => connection.unsentBytes === 0)
})

t.test('the rest of an unread body that stops in the middle is awaited for about a second', async t => {
  const url = await listen(t, response => reply(response, 'no', 404))
  const startedAtMs = performance.now()
  const connection = openConnection(t, url).send(`${post('Content-Length: 10')}hello`)

  t.equal((await connection.answer()).status, 404)
  t.equal(await connection.ended(), 'closed')
  t.ok(performance.now() - startedAtMs > 900)
})

t.test('broken chunks behind a whole answer do not reset it away', async t => {
  const url = await listen(t, response => reply(response, 'no', 404))
  const connection = openConnection(t, url).send(`${post('Transfer-Encoding: chunked')}zz\r\n${'a'.repeat(most)}`)

  t.equal((await connection.answer()).status, 404)
  t.equal(await connection.ended(), 'closed')
  t.equal(connection.received.length, 0)
})

t.test('a client that takes its answer slowly gets all of it before the connection stops lingering', async t => {
  const bytes = Buffer.alloc(most)
  const url = await listen(t, response => {
    response.writeHead({ status: 200, lines: '', length: String(most), hasDate: false })
    response.endWith(bytes)
  })
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(`${head('POST /', 'Content-Length: 10', 'Connection: close')}hello`)
  })
  t.teardown(() => socket.destroy())
  let received = 0
  socket.on('data', piece => {
    received += piece.length
  })
  socket.once('data', () => {
    socket.pause()
    // Longer than the silence after which a lingering connection closes.
    setTimeout(() => socket.resume(), 2500)
  })

  await eventually(() => received > most)
})
