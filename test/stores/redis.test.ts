import type { Redis } from 'ioredis'
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

type Dump = readonly (readonly [key: string, value: Buffer | null])[]

const dumpAll = async (client: Redis): Promise<Dump> =>
  Promise.all((await client.keys('*')).map(async key => [key, await client.dumpBuffer(key)] as const))

/** Restores every key of that time, and removes all others. */
const restoreAll = async (client: Redis, dump: Dump): Promise<void> => {
  await client.flushall()
  for (const [key, value] of dump) if (value) await client.restore(key, 0, value)
}

const spent = () => ({ id: newId(), untilMs: Date.now() + 1000 })

testStore(t, async t => {
  // All other keys have names of their own.
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

/** The clients that a reader gets when it continues from `cursor`. */
const readClients = async ({ clients }: Store, cursor: string | undefined) => {
  const ids: string[] = []
  let isWhole = false
  const next = await clients.since(cursor, (part, isAll) => {
    isWhole = isAll
    ids.push(...part.map(({ client_id }) => client_id))
  })
  return { cursor: next, ids, isWhole }
}

t.test('after Redis has lost clients, a reader gets all remaining clients, whatever was added since', async t => {
  const redis = await startRedis(t)
  const store = await open(t, redis.url)
  const { clients } = store
  const disable = (id: string) => clients.put(id, { disabled: true }, undefined)
  const empty = await readClients(store, undefined)
  await disable('first')
  const first = await readClients(store, empty.cursor)
  t.match(first, { isWhole: false, ids: ['first'] }, 'before the first there was nothing to lose')

  await t.test('a failover to a replica that lacked the last change', async t => {
    const replica = await dumpAll(redis.client)
    await disable('lost')
    const seen = await readClients(store, first.cursor)
    t.match(seen, { isWhole: false, ids: ['lost'] })

    await restoreAll(redis.client, replica)
    await disable('later')

    const news = await readClients(store, seen.cursor)
    t.match(news, { isWhole: true, ids: ['first', 'later'] })
    t.match(
      await readClients(store, first.cursor),
      { isWhole: false, ids: ['later'] },
      'a reader that had not seen the change',
    )
  })
  await t.test('all data', async t => {
    const { cursor } = await readClients(store, undefined)

    await redis.client.flushall()

    t.match(await readClients(store, cursor), { isWhole: true, ids: [], cursor: '0' })
    await disable('new')
    t.match(await readClients(store, cursor), { isWhole: true, ids: ['new'] })
  })
})

t.test('the last thousand changes of clients are kept', async t => {
  const store = await open(t, redis.url)
  const before = await readClients(store, undefined)
  await store.clients.put('first', { disabled: true }, undefined)
  const { cursor } = await readClients(store, before.cursor)

  await Promise.all(Array.from({ length: 1000 }, () => store.clients.put(newId(), { disabled: true }, undefined)))

  t.equal(await redis.client.zcard('sidegate:{clients}:places'), 1000)
  t.match(await readClients(store, cursor), { isWhole: true }, 'a reader that missed more changes than Redis keeps')
})

t.test('a start without Redis succeeds, calls fail at once, and succeed within a second of its start', async t => {
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

t.test('a silent Redis soon counts as unavailable, and is used again when it answers', async t => {
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
  'in a Redis Cluster every operation keeps to one slot, and needs only the rights that the documentation lists',
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
