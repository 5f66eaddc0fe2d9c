import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Connection } from '../../../src/http/server/connection.ts'
import { defaultHttpServerOptions } from '../../../src/http/server/options.ts'
import type { Response } from '../../../src/http/server/response.ts'
import { eventually } from '../../support/eventually.ts'
import { listenLocally } from '../../support/local-server.ts'
import { headerOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { head, reply } from '../support/http-server.ts'

/** A listener whose only connection the test may retire. */
const listen = async (t: Test, answer: (response: Response) => void) => {
  const sockets: Socket[] = []
  const connections: Connection[] = []
  let requests = 0
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket)
    connections.push(
      new Connection(socket, {
        options: defaultHttpServerOptions,
        handlers: {
          request: (_request, response) => {
            requests++
            answer(response)
          },
          refused: () => t.fail('nothing is refused'),
          dropped: () => t.fail('nothing is dropped'),
        },
        keepAliveSec: 75,
        onClosed: () => undefined,
        expectSoon: () => undefined,
      }),
    )
  })
  const port = await listenLocally(t, server, sockets)
  const retire = (): void => {
    for (const connection of connections) connection.retire()
  }
  return { url: `http://127.0.0.1:${port}`, port, sockets, requests: () => requests, retire }
}

t.test('an idle connection that is retired closes at once', async t => {
  const { url, retire } = await listen(t, response => reply(response))
  const connection = openConnection(t, url).send(head('GET /'))
  await connection.answer()
  retire()

  t.equal(await connection.ended(), 'closed')
})

t.test(
  'a connection that is retired during a request sends Connection: close, and closes after the response',
  async t => {
    const held: Response[] = []
    const { url, requests, retire } = await listen(t, response => void held.push(response))
    const connection = openConnection(t, url).send(head('GET /a') + head('GET /b'))
    await eventually(() => held.length === 1)
    retire()
    for (const response of held) reply(response, 'here')
    const answer = await connection.answer()

    t.equal(answer.body.toString(), 'here')
    t.equal(headerOf(answer, 'connection'), 'close')
    t.equal(await connection.ended(), 'closed')
    t.equal(requests(), 1, 'the pipelined request is not begun')
  },
)

t.test('a connection that is retired while its client has yet to take the answer closes behind it', async t => {
  const most = 32 * 1024 * 1024
  const { port, sockets, requests, retire } = await listen(t, response => reply(response, 'a'.repeat(most)))
  const client = connect(port, '127.0.0.1', () => client.write(head('GET /')))
  t.teardown(() => client.destroy())
  await eventually(() => (sockets[0]?.writableLength ?? 0) > 0)
  retire()
  let received = 0
  client.on('data', piece => {
    received += piece.length
    if (received > most) client.write(head('GET /'))
  })
  client.on('error', () => undefined)
  await once(client, 'close')

  t.ok(received > most)
  t.equal(requests(), 1)
})
