import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { type RunningRedis, startRedis } from '../../../support/redis.ts'
import type { RunningSidegate, TestConfig } from '../../../support/sidegate.ts'
import { startOAuth, users } from '../../support/running.ts'

/** The gateway of one section over one store. */
export interface Section {
  readonly url: string
  readonly gateway: RunningSidegate
  /** Everything that the store holds now, as one text to search in. */
  stored(): Promise<string>
  /** Defined if the store is Redis. */
  readonly redis?: RunningRedis
  /** Another gateway for the same issuer over the same store, with one worker and another port. */
  beside(changes?: TestConfig): Promise<RunningSidegate>
}

/** The configuration of a section's gateway without its store; created for each store. */
export type Setup = (t: Test) => TestConfig | Promise<TestConfig>

/** Runs the lines of one section over each store that the workers of a cluster can share. */
export const onEachStore = (
  section: string,
  setup: Setup,
  lines: (t: Test, section: Section) => Promise<void>,
): void => {
  t.test(`${section} (sqlite)`, async t => {
    const config = await prepare(t, setup)
    const gateway = await startOAuth(t, config)
    const stored = async (): Promise<string> => readDatabase(gateway.dir)
    const beside = besides(t, gateway, { ...config, store: `sqlite:${gateway.dir}/sidegate.db` })
    await lines(t, { url: gateway.url, gateway, stored, beside })
  })
  t.test(`${section} (redis)`, async t => {
    const redis = await startRedis(t)
    const config = { ...(await prepare(t, setup)), store: redis.url }
    const gateway = await startOAuth(t, config)
    const stored = (): Promise<string> => readRedis(redis.client)
    await lines(t, { url: gateway.url, gateway, redis, stored, beside: besides(t, gateway, config) })
  })
}

/** Most lines are refusals: many of them must not lock a client out. */
const prepare = async (t: Test, setup: Setup): Promise<TestConfig> => ({
  login: { failures: '100000/1minute', users: await users() },
  ...(await setup(t)),
})

const besides =
  (t: Test, { url }: RunningSidegate, config: TestConfig): Section['beside'] =>
  (changes = {}) =>
    startOAuth(t, { issuer: url, ...config, listen: '127.0.0.1:0', workers: 1, ...changes })

/** Every byte of the embedded store, including its write-ahead log. */
const readDatabase = (dir: string): string =>
  readdirSync(dir)
    .filter(name => name.startsWith('sidegate.db'))
    .map(name => readFileSync(join(dir, name), 'latin1'))
    .join('\n')

const readRedis = async (client: Redis): Promise<string> => {
  const keys = await client.keys('*')
  const values = await Promise.all(keys.map(async key => readKey(client, key)))
  return [...keys, ...values].join('\n')
}

const readKey = async (client: Redis, key: string): Promise<string> => {
  switch (await client.type(key)) {
    case 'hash':
      return JSON.stringify(await client.hgetall(key))
    case 'zset':
      return JSON.stringify(await client.zrange(key, '0', '-1'))
    case 'set':
      return JSON.stringify(await client.smembers(key))
    case 'stream':
      return JSON.stringify(await client.xrange(key, '-', '+'))
    case 'list':
      return JSON.stringify(await client.lrange(key, '0', '-1'))
    default:
      return (await client.get(key)) ?? ''
  }
}
