import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../src/clock.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import { createRedisLimiter } from '../../src/stores/redis/limiter.ts'
import { openRedisStore } from '../../src/stores/redis.ts'
import { createReplicaCounter } from '../../src/stores/replica-counter.ts'
import { openSqliteStore } from '../../src/stores/sqlite.ts'
import { parseStoreUrl } from '../../src/stores/store-url.ts'
import {
  newGrant,
  newId,
  newInteraction,
  newKey,
  newPushedRequest,
  newToken,
  redemptionOf,
} from '../conformance/records.ts'
import { chargeBy, newRule } from '../support/charges.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'

const readme = readFileSync(join(import.meta.dirname, '../../src/stores/README.md'), 'utf8')

/** First cells of the table under a heading, without their backticks. */
const firstCells = (heading: string): readonly string[] => {
  const section = readme.split(/^## /m).find(part => part.startsWith(heading)) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell)
}

/** Writes a record of every kind that a store keeps. */
const fill = async (store: Store, clock: Clock): Promise<void> => {
  const untilMs = clock.nowMs() + 600_000
  const grant = newGrant(clock.nowMs())
  await store.keys.create(newKey('ES256', clock.nowMs()), undefined, untilMs)
  await store.grants.create(grant)
  await store.grants.redeem(redemptionOf(grant, clock.nowMs()))
  await store.tokens.save(grant.grantId, newId(), newToken(grant.grantId), untilMs)
  await store.revocations.revoke(`${grant.grantId}.1`, untilMs)
  await store.cutoffs.add({ client_id: 'demo', throughSec: 1, untilMs })
  await store.interactions.create(newId(), newInteraction(), untilMs, 10)
  await store.replays.spend([{ id: newId(), untilMs }])
  await store.subjects.remember(newId(), untilMs)
  await store.pushed.create(newId(), { ...newPushedRequest(), isUnproven: true }, untilMs, 10)
  await store.clients.put('forgotten', { disabled: true }, undefined)
  await store.clients.put('forgotten', undefined, (await store.clients.find('forgotten'))?.version)
  await store.clients.put('known', { disabled: true }, undefined)
}

const startFilledRedis = async (t: Test) => {
  const redis = await startRedis(t)
  const url = parseStoreUrl(redis.url)
  if ('problem' in url || url.kind !== 'redis') throw new Error('not the address of a Redis')
  const store = await openRedisStore(url, systemClock)
  const limiter = await createRedisLimiter(url, { share: () => ({ index: 0, of: 1 }), onStateChange: () => undefined })
  const pods = createReplicaCounter(url, 'pod')
  t.teardown(() => Promise.all([store.close(), limiter.close(), pods.close()]))
  await fill(store, systemClock)
  await limiter.charge(
    chargeBy(
      newRule(10, { windowMs: 60_000 }),
      newRule(10, { windowMs: 60_000, algorithm: 'smooth' }),
      newRule(10, { windowMs: 86_400_000, algorithm: 'calendar' }),
    ),
  )
  await eventually(async () => (await redis.client.exists('sidegate:pods')) === 1)
  // The limiter probes a Redis after a lost connection.
  await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal')
  await eventually(async () => (await redis.client.exists('sidegate:probe:0')) === 1)
  return redis.client
}

t.test(
  'the table of Redis keys names every key that Redis holds, and none besides; each but those of clients has a lifetime',
  async t => {
    const client = await startFilledRedis(t)
    const patterns = firstCells('Redis').map(
      cell => new RegExp(`^${cell.replace(/[{}]/g, '\\$&').replace(/<[^>]+>/g, '[^:{}]+')}$`),
    )
    const kinds = new Map(
      [...readme.matchAll(/^\| `([^`]+)` \| (\w+(?: set)?) \|/gm)].map(([, key, kind]) => [key, kind]),
    )

    const keys = await client.keys('*')

    for (const key of keys) {
      const rows = firstCells('Redis').filter((_, index) => patterns[index]?.test(key))
      t.equal(rows.length, 1, `one row for ${key}`)
      t.equal(kinds.get(rows[0] ?? ''), { zset: 'sorted set' }[await client.type(key)] ?? (await client.type(key)))
      const isLasting = (await client.pttl(key)) > 0
      t.equal(isLasting, !key.includes('{clients}'), `a lifetime for ${key}`)
    }
    for (const pattern of patterns)
      t.ok(
        keys.some(key => pattern.test(key)),
        `a key for ${pattern}`,
      )
  },
)

t.test(
  'the table of SQLite tables names every table of the file, and none besides; each row but a client has a lifetime',
  async t => {
    const dir = mkdtempSync(join(tmpdir(), 'sidegate-readme-'))
    t.teardown(() => rmSync(dir, { recursive: true, force: true }))
    const store = await openSqliteStore(join(dir, 'sidegate.db'), systemClock)
    await fill(store, systemClock)
    await store.close()
    const db = new DatabaseSync(join(dir, 'sidegate.db'))
    t.teardown(() => db.close())

    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()

    t.same(tables.map(({ name }) => name).toSorted(), firstCells('SQLite').toSorted())
    for (const { name } of tables) {
      const { rows, lasting } = {
        ...db.prepare(`SELECT count(*) AS rows, sum(until_ms > ?) AS lasting FROM ${name}`).get(Date.now()),
      }
      t.same([rows, lasting], name === 'clients' ? [2, 1] : [1, 1], `one row with a lifetime in ${name}`)
    }
  },
)
