import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../src/clock.ts'
import { openStore } from '../../../src/stores/open.ts'
import { findFreePort } from '../../support/free-port.ts'
import { startRedis } from '../../support/redis.ts'
import { toRedisUrl } from './support/workers.ts'

const closed = `127.0.0.1:${await findFreePort()}`
const locked = await startRedis(t, ['--requirepass', 'right'], { client: { password: 'right' } })
const stranger = createServer((_req, res) => res.end()).listen(0, '127.0.0.1')
await once(stranger, 'listening')
t.teardown(() => stranger.close())
const { port: strangePort } = stranger.address() as AddressInfo

const faults: readonly (readonly [says: string, url: string, reason: RegExp])[] = [
  ['the port is closed', `redis://${closed}`, new RegExp(`Redis at ${closed}: connect ECONNREFUSED ${closed}$`)],
  ['its name is not known', 'redis://redis.invalid:6379', /getaddrinfo E\w+ redis\.invalid$/],
  ['the password is wrong', `redis://:s3same@127.0.0.1:${locked.port}`, /WRONGPASS/],
  ['it wants a password', `redis://127.0.0.1:${locked.port}`, /NOAUTH, it wants a password$/],
  ['it speaks no TLS', `rediss://127.0.0.1:${locked.port}`, /\(does it speak TLS\?\)$/],
  ['it is no Redis', `redis://127.0.0.1:${strangePort}`, /\(is it a Redis\?\)$/],
  ['no Sentinel is there', `redis+sentinel://${closed}/main`, /All sentinels are unreachable/],
  ['no node of a Cluster is there', `redis+cluster://${closed}`, new RegExp(`at ${closed}`)],
  ['a Cluster wants a password', `redis+cluster://127.0.0.1:${locked.port}`, /NOAUTH, it wants a password$/],
]

t.test('the reason why Redis is unavailable is one line without the password', async t => {
  await Promise.all(
    faults.map(async ([says, url, reason]) => {
      const store = await openStore(toRedisUrl(url), systemClock)

      const error: unknown = await store.ping().catch((error: unknown) => error)
      await store.close()

      t.match(error, { name: 'StoreUnavailableError', reason }, says)
      t.notMatch((error as { readonly reason: string }).reason, /s3same|\n/, says)
    }),
  )
})
