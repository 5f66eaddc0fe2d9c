import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { answerUnderWay } from '../../src/http/answer-under-way.ts'
import { dropListenersAtEnd } from '../../src/http/last-heard.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'

/** A client, and the answer that a server owes it. */
const owed = async (t: Test) => {
  const asked = Promise.withResolvers<ServerResponse>()
  const server = createServer((_req, res) => asked.resolve(res)).listen(0, '127.0.0.1')
  server.on('connection', dropListenersAtEnd)
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = openConnection(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  client.send('POST / HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 5\r\n\r\nhe')
  const res = await asked.promise
  return { client, res, socket: res.req.socket }
}

/** The answer, when its client has gone. */
const abandoned = async (t: Test): Promise<{ readonly res: ServerResponse; readonly socket: Socket }> => {
  const { client, res, socket } = await owed(t)
  const told = once(res, 'close')
  client.reset()
  await told
  await eventually(() => answerUnderWay(socket) === undefined)
  return { res, socket }
}

t.test('a connection that has ended has no listeners, and leads to no answer', async t => {
  const { res, socket } = await abandoned(t)

  t.same(socket.eventNames(), [])
  t.ok(res.closed)
})

t.test('an answer whose client has gone may be ended all the same', async t => {
  const whole = await abandoned(t)
  whole.res.end('nobody reads it')
  const headOnly = await abandoned(t)
  headOnly.res.writeHead(200, { 'content-length': 0 }).flushHeaders()
  headOnly.res.end()
  const nothing = await abandoned(t)
  nothing.res.writeHead(204).end()

  const next = await abandoned(t)
  t.ok(next.res.destroyed, 'the process goes on')
})

t.test('an answer that is ended as its connection closes is ended once', async t => {
  const { res, socket } = await owed(t)
  const seen: string[] = []
  res.on('finish', () => seen.push('finish')).on('close', () => seen.push('close'))
  res.writeHead(200, { 'content-length': 0 }).flushHeaders()
  res.once('close', () => res.end())
  socket.destroy()
  await eventually(() => seen.includes('finish') && answerUnderWay(socket) === undefined)

  t.same(seen, ['close', 'finish'])
})
