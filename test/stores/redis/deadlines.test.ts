import t from 'tap'
import { connectRedis, waitUntilReady } from '../../../src/stores/redis/connection.ts'
import { eventually } from '../../support/eventually.ts'
import { startRedis } from '../../support/redis.ts'
import { toRedisUrl } from './support/workers.ts'

const commandTimeoutMs = 100

t.test(
  'what a silent Redis leaves unanswered ends when its time is over, each by itself, and nothing else does',
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
