import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/clock.ts'
import { copyStore } from '../../../src/stores/copy.ts'
import { openStore } from '../../../src/stores/open.ts'
import { createReplicaCounter } from '../../../src/stores/replica-counter.ts'
import { newGrant, newId, newKey } from '../../conformance/records.ts'
import { chargeBy, newCharge, newRule } from '../../support/charges.ts'
import { eventually } from '../../support/eventually.ts'
import { startRedis } from '../../support/redis.ts'
import { startLonelyNode } from '../../support/redis-cluster.ts'
import { admitLeastUser, findRefusals, leastUser } from '../../support/redis-user.ts'
import { openWorker, toRedisUrl } from './support/workers.ts'

const open = async (t: Test, url: string) => {
  const store = await openStore(toRedisUrl(url), systemClock)
  t.teardown(() => store.close())
  return store
}

const single = await startRedis(t)
const node = await startLonelyNode(t)
await Promise.all([admitLeastUser(single), admitLeastUser(node)])

for (const [name, redis, url] of [
  ['Redis', single, `redis://${leastUser}@127.0.0.1:${single.port}`],
  ['a Cluster', node, `redis+cluster://${leastUser}@127.0.0.1:${node.port}`],
] as const) {
  t.test(`a user of ${name} with the documented rights and keys is refused nothing for plans and pods`, async t => {
    const { limiter } = await openWorker(t, url)
    const pods = createReplicaCounter(toRedisUrl(url), 'pod')
    t.teardown(() => pods.close())
    const rules = (['strict', 'smooth', 'calendar'] as const).map(algorithm =>
      newRule(2, { algorithm, counter: algorithm }),
    )
    const charge = chargeBy(...rules)
    const large = newCharge(5000, { windowMs: 100 })

    for (let i = 0; i < 50; i++) {
      await limiter.charge(charge)
      await limiter.charge(large)
    }
    await redis.client.script('FLUSH')
    await eventually(async () => (await limiter.charge(charge)).allowed)
    await eventually(async () => (await redis.client.exists('sidegate:pods')) === 1)
    await eventually(async () => (await limiter.charge(newCharge(1))).source === 'store')

    t.same(await findRefusals(redis), [])
  })

  t.test(`a user with the documented rights is refused nothing for a copy into ${name}`, async t => {
    const path = join(t.testdir(), 'sidegate.db')
    const from = await openStore({ kind: 'sqlite', path }, systemClock)
    await from.keys.create(newKey('ES256', Date.now()), undefined, Date.now() + 60_000)
    await from.close()

    const copied = await copyStore(path, toRedisUrl(`${url}?prefix=sidegate:copied:`), systemClock)

    t.equal(copied.signing_keys, 1)
    t.same(await findRefusals(redis), [])
  })
}

t.test('a Redis whose user lacks a right counts as away and is not asked all the time', async t => {
  const redis = await startRedis(t)
  await admitLeastUser(redis)
  await redis.client.acl('SETUSER', 'sidegate', '-rpush')
  const url = `redis://${leastUser}@127.0.0.1:${redis.port}`
  const { limiter, changes } = await openWorker(t, url)

  t.match(await limiter.charge(newCharge(1)), { allowed: true, source: 'local' })
  t.same(changes, [false])
  t.match(limiter.charge(newCharge(1)), { allowed: true, source: 'local' }, 'a verdict, not a promise')
})

t.test('with a wrong password Redis refuses the worker, and plans continue as without a Redis', async t => {
  const url = `redis://${leastUser}%21@127.0.0.1:${single.port}`
  const { limiter, changes } = await openWorker(t, url)

  t.match(await limiter.charge(newCharge(1)), { allowed: true, source: 'local' })
  t.same(changes, [false])
})

t.test('gateways with different prefixes share a Redis, but no data in it', async t => {
  const redis = await startRedis(t)
  const urls = ['shop:', 'bank:'].map(prefix => `${redis.url}?prefix=${prefix}`)
  const charge = newCharge(1)
  const spent = [{ id: newId(), untilMs: Date.now() + 60_000 }]
  const grant = newGrant(Date.now())

  for (const url of urls) {
    const store = await open(t, url)
    const { limiter } = await openWorker(t, url)
    t.same(await store.replays.spend(spent), [true])
    await store.grants.create(grant)
    t.match(await limiter.charge(charge), { allowed: true, source: 'store' })
  }

  const keys = await redis.client.keys('*')
  for (const prefix of ['shop:', 'bank:']) t.ok(keys.filter(key => key.startsWith(prefix)).length >= 2)
  t.ok(keys.every(key => /^(shop|bank):/.test(key)))
})
