/**
 * Measures the cost of requests in Redis: calls, and microseconds of its core, as the adapters cause them when a
 * worker is busy. `sizing.ts` uses these figures. Ends by itself and leaves nothing behind. Run it with
 * `npx node test/load/redis-cost.ts`
 */
import { systemClock } from '../../src/clock.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import type { Rule } from '../../src/stores/ports/limiter.ts'
import { createRedisLimiter } from '../../src/stores/redis/limiter.ts'
import type { RedisUrl } from '../../src/stores/store-url.ts'
import { newRule } from '../support/charges.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { startLonelyNode } from '../support/redis-cluster.ts'

/** Requests that a busy worker takes in one turn of its event loop. */
const perTurn = 20
const turns = 3000

interface Cost {
  readonly callsPerRequest: number
  readonly coreUsPerRequest: number
}

const main = async (): Promise<void> => {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => teardowns.push(handler) }
  try {
    const single = await startRedis(t)
    const node = await startLonelyNode(t)
    for (const [name, redis, url] of [
      ['Redis', single, single.url],
      ['Redis Cluster', node, `redis+cluster://127.0.0.1:${node.port}`],
    ] as const) {
      print(`${name}: a plan, one client`, await measureCharges(redis, url, () => 'one'))
      print(`${name}: a plan, 5,000 clients in turn`, await measureCharges(redis, url, nth => `${nth % 5000}`))
    }
    print('Redis: introspection of a JWT', await measureIntrospection(single))
  } finally {
    for (const teardown of teardowns.toReversed()) await teardown()
  }
}

const measureCharges = async (redis: RunningRedis, url: string, clientOf: (nth: number) => string): Promise<Cost> => {
  const limiter = await createRedisLimiter(toRedisUrl(url), {
    share: () => ({ index: 0, of: 1 }),
    onStateChange: isUp => {
      if (!isUp) throw new Error('the machine is too slow to measure: Redis did not answer in time')
    },
  })
  const rules: readonly Rule[] = [newRule(1_000_000)]
  let nth = 0
  const charge = () => limiter.charge({ key: clientOf(nth++), rules, whenStoreFails: 'local' })
  try {
    for (let turn = 0; turn < turns / 10; turn++) await together(charge)
    return await measure(redis, charge)
  } finally {
    await limiter.close()
  }
}

const measureIntrospection = async (redis: RunningRedis): Promise<Cost> => {
  const store = await openStore(toRedisUrl(redis.url), systemClock)
  try {
    return await measure(redis, () =>
      Promise.all([store.revocations.isRevoked('grant.token'), store.cutoffs.since('1')]),
    )
  } finally {
    await store.close()
  }
}

const measure = async ({ client }: RunningRedis, request: () => unknown): Promise<Cost> => {
  const before = [await callsOf(client), await coreUsOf(client)] as const
  for (let turn = 0; turn < turns; turn++) await together(request)
  const [calls, coreUs] = [await callsOf(client), await coreUsOf(client)]
  const requests = turns * perTurn
  return { callsPerRequest: (calls - before[0]) / requests, coreUsPerRequest: (coreUs - before[1]) / requests }
}

const together = (request: () => unknown): Promise<unknown> => Promise.all(Array.from({ length: perTurn }, request))

type Client = RunningRedis['client']

/** Calls of clients, without those that scripts make. */
const callsOf = async (client: Client): Promise<number> => {
  const stats = await client.info('commandstats')
  const outer = /^cmdstat_(?:evalsha|hmget|zrangebyscore):calls=(\d+)/gm
  return [...stats.matchAll(outer)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

const coreUsOf = async (client: Client): Promise<number> => {
  const cpu = await client.info('cpu')
  const read = (field: string): number => Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(cpu)?.[1])
  return 1_000_000 * (read('used_cpu_user_main_thread') + read('used_cpu_sys_main_thread'))
}

const toRedisUrl = (url: string): RedisUrl => {
  const parsed = parseStoreUrl(url)
  if ('problem' in parsed || parsed.kind !== 'redis') throw new Error('not the address of a Redis')
  return parsed
}

const print = (name: string, { callsPerRequest, coreUsPerRequest }: Cost): void => {
  process.stdout.write(`${name}: ${callsPerRequest.toFixed(2)} calls, ${coreUsPerRequest.toFixed(1)} µs a request\n`)
}

await main()
