import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { makeFolder } from '../../config/support.ts'
import { openConnection } from '../../support/raw-client.ts'
import { startGateway } from '../support/running.ts'

const get = (path: string, ...fields: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

t.test('a target may be a socket in the file system', async t => {
  const path = join(makeFolder(t), 'service.sock')
  const server = createServer((req, res) => res.end(`${req.url} for ${req.headers.host}`))
  server.on('upgrade', (_req, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
  )
  server.listen(path)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const upstreams = { up: { targets: [`unix:${path}`] }, gone: { targets: [`unix:${path}.gone`] } }
  const { url } = await startGateway(t, { up: '', gone: '' }, { upstreams })
  const ask = (path: string, ...fields: readonly string[]) =>
    openConnection(t, url)
      .send(get(path, ...fields))
      .answer()
  const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']

  t.equal((await ask('/up/x')).body.toString(), '/up/x for localhost')
  t.equal((await ask('/gone/x')).status, 502)
  t.equal((await ask('/up/x', ...handshake, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==')).status, 101)
})
