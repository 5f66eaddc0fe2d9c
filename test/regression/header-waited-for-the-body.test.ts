import t from 'tap'
import { startGateway } from '../gateway/support/running.ts'
import { openConnection } from '../support/raw-client.ts'
import { type Script, startCountingUpstream } from '../support/recording-upstream.ts'

/** An event stream that has nothing to tell yet. */
const silentStream: Script = socket => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
}

t.test('the header of an answer reaches the client before the first byte of its body', async t => {
  const upstream = await startCountingUpstream(t, silentStream)
  const gateway = await startGateway(t, { up: upstream.url })
  const connection = openConnection(t, gateway.url).send('GET /up/events HTTP/1.1\r\nHost: gw.test\r\n\r\n')

  const header = (await connection.receive('HTTP/1.1 200 OK'.length)).toString()

  t.match(header, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(header, /content-type: text\/event-stream/)
})
