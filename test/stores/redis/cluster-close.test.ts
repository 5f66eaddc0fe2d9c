import t from 'tap'
import { connectRedis } from '../../../src/stores/redis/connection.ts'
import { eventually } from '../../support/eventually.ts'
import { startLonelyNode } from '../../support/redis-cluster.ts'
import { toRedisUrl } from './support/workers.ts'

const timersAtWork = (): number => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length

t.test('a Cluster that is closed while it is asked for its slots leaves no timer', async t => {
  const node = await startLonelyNode(t)
  const url = toRedisUrl(`redis+cluster://127.0.0.1:${node.port}`)
  const before = timersAtWork()
  const connection = connectRedis(url, { commandTimeoutMs: 100, silenceMs: 1000 })
  const asks = (): boolean => (connection as unknown as { readonly isRefreshing: boolean }).isRefreshing
  await eventually(() => connection.status === 'ready' && !asks())

  node.pause()
  await eventually(asks)
  connection.disconnect()
  await eventually(() => !asks())
  node.resume()

  await t.resolves(eventually(() => timersAtWork() === before))
})
