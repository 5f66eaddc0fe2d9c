import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { connectRedis, waitUntilReady } from '../../../src/stores/redis/connection.ts'
import { eventually } from '../../support/eventually.ts'
import { startRedis } from '../../support/redis.ts'
import { toRedisUrl } from './support/workers.ts'

const commandTimeoutMs = 100

t.test(
  'each command that a silent Redis leaves unanswered ends when its own time is over, and no other command ends',
  async t => {
    const redis = await startRedis(t)
    const connection = connectRedis(toRedisUrl(redis.url), { commandTimeoutMs, silenceMs: 10_000 })
    t.teardown(() => connection.disconnect())
    await waitUntilReady(connection, 3000)
    const waited = async (): Promise<{ outcome: string; waitMs: number }> => {
      const sentAtMs = performance.now()
      const outcome = await connection.get('nothing').then(String, error => (error as Error).message)
      return { outcome, waitMs: performance.now() - sentAtMs }
    }
    t.equal((await waited()).outcome, 'null')

    redis.pause()
    const early = Array.from({ length: 200 }, waited)
    await new Promise(resolve => setTimeout(resolve, commandTimeoutMs / 2))
    const late = Array.from({ length: 200 }, waited)
    const ended = await Promise.all([...early, ...late])
    redis.resume()

    t.same([...new Set(ended.map(({ outcome }) => outcome))], ['Command timed out'])
    t.ok(Math.min(...ended.map(({ waitMs }) => waitMs)) >= commandTimeoutMs - 1, 'none before its time')
    await eventually(async () => (await waited()).outcome === 'null')
  },
)

t.test('the timer of an answered command does not keep the process alive', async t => {
  const redis = await startRedis(t)
  const connection = connectRedis(toRedisUrl(redis.url), { commandTimeoutMs: 10_000, silenceMs: 10_000 })
  t.teardown(() => connection.disconnect())
  await waitUntilReady(connection, 3000)
  const timers = () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length
  const before = timers()

  await connection.get('nothing')

  t.equal(timers(), before)
})

t.test('a command that Redis answers in time does not time out because the process was busy for longer', async t => {
  const redis = await startRedis(t)
  const connection = connectRedis(toRedisUrl(redis.url), { commandTimeoutMs, silenceMs: 10_000 })
  t.teardown(() => connection.disconnect())
  await waitUntilReady(connection, 3000)
  const busyFor = (ms: number): void => {
    const startedAtMs = performance.now()
    while (performance.now() - startedAtMs < ms);
  }
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  t.teardown(() => near.destroy())

  // The timer that watches both commands fires. In the same turn, before the answer of Redis is read, the socket `far`
  // gets the data that makes it send the second command.
  const answer = new Promise(resolve => {
    far.once('data', () => {
      resolve(connection.get('nothing').catch(String))
      busyFor(1.5 * commandTimeoutMs)
    })
    void connection.get('before')
    setTimeout(() => near.write('now'), commandTimeoutMs)
  })

  t.equal(await answer, null)
})
