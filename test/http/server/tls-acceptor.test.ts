import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { head, reply, startHttpServer } from '../support/http-server.ts'
import { certificates, trust } from '../support/tls-server.ts'

const { cert, key } = certificates.server
const tls = () => ({ serverOptions: { cert, key }, attach: () => undefined, onClientCaChange: undefined })

t.test('a connection that has sent nothing is counted, and one that leaves then is not dropped', async t => {
  const { server, url, drops } = await startHttpServer(t, (_request, response) => reply(response), {}, tls())
  const silent = [openConnection(t, url), openConnection(t, url), openConnection(t, url)]
  await eventually(() => server.openConnections() === silent.length)
  silent[0]?.finish()
  silent[1]?.reset()
  silent[2]?.close()
  await eventually(() => server.openConnections() === 0)

  t.same(drops, [])
})

t.test('at the limit of connections those make room that have not begun a handshake', async t => {
  const { server, url, drops } = await startHttpServer(
    t,
    (_request, response) => reply(response),
    { maxConnections: 3 },
    tls(),
  )
  const silent = [openConnection(t, url), openConnection(t, url), openConnection(t, url)]
  await eventually(() => server.openConnections() === silent.length)
  await openConnection(t, url).ended()
  for (const connection of silent) t.not(await connection.ended(), 'open')

  const secure = openConnection(t, url.replace('http', 'https'), trust)
  t.equal((await secure.send(head('GET /')).answer()).status, 200)
  t.same(drops, ['limit', 'evicted_idle', 'evicted_idle', 'evicted_idle'])
})

t.test('an answer to broken chunks arrives over TLS before the connection closes', async t => {
  const { url } = await startHttpServer(t, (_request, response) => reply(response, 'no', 404), {}, tls())
  const connection = openConnection(t, url.replace('http', 'https'), trust)
  connection.send(`${head('POST /', 'Transfer-Encoding: chunked')}zz\r\n`)

  t.equal((await connection.answer()).status, 404)
  t.equal(await connection.ended(), 'closed')
})

t.test('a request that is sent together with the FIN of its TLS connection is answered', async t => {
  const { url } = await startHttpServer(
    t,
    (_request, response) => void setTimeout(reply, 20, response, 'here'),
    {},
    tls(),
  )
  const transport = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
  const socket = connectSecurely({ ...trust, socket: transport })
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', bytes => {
    received += bytes
  })
  socket.once('secureConnect', () => socket.end(head('GET /')))

  await eventually(() => received.endsWith('here'))
})
