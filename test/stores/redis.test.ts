import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import { StoreUnavailableError } from '../../src/stores/ports/store-unavailable.ts'
import { newGrant, newId, newKey, newToken } from '../conformance/records.ts'
import { testStore } from '../conformance/stores.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { startLonelyNode } from '../support/redis-cluster.ts'
import { admitLeastUser, findRefusals, leastUser } from '../support/redis-user.ts'

const redis = await startRedis(t)
await admitLeastUser(redis)

const open = async (t: Test, url: string): Promise<Store> => {
  const parsed = parseStoreUrl(url)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const store = await openStore(parsed, systemClock)
  t.teardown(() => store.close())
  return store
}

const elapse = async (ms: number): Promise<void> => {
  const endMs = Date.now() + ms
  await eventually(() => Date.now() > endMs)
}

const spent = () => ({ id: newId(), untilMs: Date.now() + 1000 })

testStore(t, async t => {
  // All else has names of its own.
  await redis.client.del('sidegate:keys')
  const url = `redis://${leastUser}@127.0.0.1:${redis.port}`
  return { store: await open(t, url), clock: systemClock, elapse, shared: url }
})

t.test('a user with the documented rights was refused nothing', async t => {
  t.same(await findRefusals(redis), [])
})

t.test('every key but those of clients has a lifetime', async t => {
  const keys = (await redis.client.keys('*')).filter(key => !key.startsWith('sidegate:{clients}:'))

  t.ok(keys.length > 10)
  for (const key of keys) t.ok((await redis.client.pttl(key)) > 0, key)
})

t.test('a reader who has seen more changes of clients than Redis has is shown all that is left', async t => {
  const { clients } = await open(t, redis.url)
  await clients.put('left', { disabled: true }, undefined)
  const shown: string[] = []

  await clients.since(`${Date.now()}999999`, (part, isWhole) => {
    if (isWhole) shown.push(...part.map(({ client_id }) => client_id))
  })

  t.ok(shown.includes('left'))
})

t.test('a start without Redis succeeds, calls fail at once, and all is well within a second of its coming', async t => {
  const redis = await startRedis(t)
  await redis.kill()
  const store = await open(t, redis.url)

  const startedAtMs = performance.now()
  await t.rejects(store.grants.create(newGrant(Date.now())), StoreUnavailableError)
  await t.rejects(store.tokens.find(newId(), newId()), StoreUnavailableError)
  await t.rejects(store.revocations.revoke(newId(), Date.now() + 1000), StoreUnavailableError)
  await t.rejects(store.revocations.since(undefined), StoreUnavailableError)
  await t.rejects(store.keys.create(newKey('ES256', 1), undefined, Date.now() + 1000), StoreUnavailableError)
  await t.rejects(store.replays.spend([spent(), spent()]), StoreUnavailableError)
  await t.rejects(store.pushed.find(newId()), StoreUnavailableError)
  await t.rejects(store.pushed.complete(newId(), newId(), Date.now() + 1000), StoreUnavailableError)
  await t.rejects(store.ping(), StoreUnavailableError)
  t.ok(performance.now() - startedAtMs < 100)

  await redis.start()
  await eventually(() => store.ping().then(() => true), 1000)
  await store.grants.create(newGrant(Date.now()))
})

t.test('a Redis that dies and comes back, also one that lost its scripts, is used again without a restart', async t => {
  const redis = await startRedis(t)
  const store = await open(t, redis.url)
  const grant = newGrant(Date.now())
  await store.grants.create(grant)
  await redis.client.script('FLUSH')
  await store.grants.create(grant)

  await redis.kill()
  await eventually(() => store.ping().catch(error => error instanceof StoreUnavailableError))
  await redis.start()
  await eventually(() => store.ping().then(() => true), 1000)
  const token = newToken(grant.grantId)
  await store.tokens.save(grant.grantId, 'digest', token, Date.now() + 60_000)

  t.same(await store.tokens.find(grant.grantId, 'digest'), token)
})

t.test('a silent Redis is unavailable soon, and used again when it answers', async t => {
  const redis = await startRedis(t)
  const store = await open(t, redis.url)
  redis.pause()
  t.teardown(() => redis.resume())

  const startedAtMs = performance.now()
  await t.rejects(store.ping(), StoreUnavailableError)
  t.ok(performance.now() - startedAtMs < 1500)

  redis.resume()
  await eventually(() => store.ping().then(() => true))
})

t.test(
  'in a Redis Cluster every operation keeps to one slot, and needs no more than the documented rights',
  async t => {
    const node = await startLonelyNode(t)
    await admitLeastUser(node)
    const url = `redis+cluster://${leastUser}@127.0.0.1:${node.port}`

    testStore(t, async t => {
      await node.client.del('sidegate:keys')
      return { store: await open(t, url), clock: systemClock, elapse, shared: url }
    })
    t.test('a user with the documented rights was refused nothing', async t => {
      t.same(await findRefusals(node), [])
    })
  },
)
