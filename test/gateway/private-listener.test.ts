import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { openPrivateListener } from '../../src/gateway/login-api/listener.ts'
import { createAccessLog } from '../../src/telemetry/access-log.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { listenOn } from '../http/support/http-server.ts'
import { openHandoffRoom, send } from '../oauth/interaction/support.ts'
import { createCertificates } from '../support/certificates.ts'
import { openConnection } from '../support/raw-client.ts'

t.test('a certificate proves nothing before its time and after it, on a connection that is kept too', async t => {
  const { ca, server, client } = createCertificates(t)
  const room = await openHandoffRoom(t)
  const logger = await createLogger({ level: 'silent', base: {} })
  const tls = { ...server, clientCaFile: ca.certFile, clientAuth: 'optional' } as const
  const listener = await openPrivateListener(
    { tls },
    {
      oauth: room.deps,
      certificates: { serves: () => undefined, renewed: () => undefined, refused: reason => t.fail(reason) },
      log: logger.log,
      accessLog: createAccessLog(logger),
    },
  )
  t.teardown(() => listener.close())
  const url = await listenOn(t, listener.traffic, listener.traffic.createListener())
  const identity = { ca: ca.cert, servername: 'localhost', cert: client.cert, key: client.key }
  const connection = openConnection(t, url.replace('http', 'https'), identity)
  const { validFromDate, validToDate } = new X509Certificate(client.cert)
  const statusAt = async (atMs: number): Promise<number> => {
    room.advanceSec((atMs - room.deps.clock.nowMs()) / 1000)
    const { id } = await send(room)
    const request = `GET /internal/interactions/${id} HTTP/1.1\r\nHost: gw.test\r\n\r\n`
    return (await connection.send(request).answer()).status
  }

  t.equal(await statusAt(validFromDate.getTime() - 1), 401)
  t.equal(await statusAt(validFromDate.getTime()), 200)
  t.equal(await statusAt(validToDate.getTime()), 200)
  t.equal(await statusAt(validToDate.getTime() + 1), 401)
})
