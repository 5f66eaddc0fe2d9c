/** A worker sends all questions about tokens of one turn of its event loop to Redis in one call. */
import t, { type Test } from 'tap'
import { systemClock } from '../../../src/clock.ts'
import { openStore } from '../../../src/stores/open.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import { StoreUnavailableError } from '../../../src/stores/ports/store-unavailable.ts'
import { newGrant, newId, newToken, redemptionOf } from '../../conformance/records.ts'
import { type RunningRedis, startRedis } from '../../support/redis.ts'
import { startCluster, startLonelyNode } from '../../support/redis-cluster.ts'
import { toRedisUrl } from './support/workers.ts'

const open = async (t: Test, url: string): Promise<Store> => {
  const store = await openStore(toRedisUrl(url), systemClock)
  t.teardown(() => store.close())
  return store
}

const farMs = (): number => Date.now() + 600_000

const newIds = (count: number): readonly string[] => Array.from({ length: count }, newId)

const scriptCalls = async ({ client }: Pick<RunningRedis, 'client'>): Promise<number> => {
  const stats = await client.info('commandstats')
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

/** The number of scripts that Redis ran meanwhile. */
const callsDuring = async (redis: readonly RunningRedis[], act: () => Promise<unknown>): Promise<number> => {
  const count = async (): Promise<number> =>
    (await Promise.all(redis.map(scriptCalls))).reduce((sum, calls) => sum + calls, 0)
  const before = await count()
  await act()
  return (await count()) - before
}

/** Revokes the third of ten grants and one `jti` of the fifth; returns whether a `jti` of each grant is revoked. */
const revokeSome = async ({ revocations }: Store) => {
  const grants = newIds(10)
  await revocations.revoke(grants[2] ?? '', farMs())
  await revocations.revoke(`${grants[4]}.1`, farMs())
  const isRevokedOf = async (nth: number): Promise<readonly boolean[]> =>
    Promise.all(grants.map(grant => revocations.isRevoked(`${grant}.${nth}`)))
  return { isRevokedOf }
}

const only = (...places: readonly number[]): readonly boolean[] =>
  Array.from({ length: 10 }, (_, place) => places.includes(place))

const redis = await startRedis(t)

t.test('all questions of one turn whether tokens are revoked are one call', async t => {
  const { revocations } = await open(t, redis.url)
  const jtis = newIds(50).map(id => `${id}.1`)

  const calls = await callsDuring([redis], () => Promise.all(jtis.map(revocations.isRevoked)))

  t.equal(calls, 1)
})

t.test('a turn with very many tokens is several calls', async t => {
  const { revocations } = await open(t, redis.url)

  const calls = await callsDuring([redis], () => Promise.all(newIds(450).map(revocations.isRevoked)))

  t.equal(calls, 3)
})

t.test('each token of a call is answered by itself', async t => {
  const { isRevokedOf } = await revokeSome(await open(t, redis.url))

  t.same(await isRevokedOf(1), only(2, 4))
  t.same(await isRevokedOf(2), only(2))
})

t.test('a Redis that has lost the script gets it again', async t => {
  const { isRevokedOf } = await revokeSome(await open(t, redis.url))
  await isRevokedOf(1)

  await redis.client.script('FLUSH')

  t.same(await isRevokedOf(1), only(2, 4))
})

t.test('stores with different prefixes read only their own keys', async t => {
  const { revocations } = await open(t, `${redis.url}?prefix=one:`)
  const other = await open(t, `${redis.url}?prefix=two:`)
  const id = newId()
  await revocations.revoke(id, farMs())

  t.equal(await revocations.isRevoked(id), true)
  t.equal(await other.revocations.isRevoked(id), false)
})

t.test('the tokens of a turn are looked up in one call, access and refresh tokens alike', async t => {
  const { grants, tokens } = await open(t, redis.url)
  const nowMs = systemClock.nowMs()
  const grant = newGrant(nowMs)
  await grants.create(grant)
  await grants.redeem(redemptionOf(grant, nowMs))
  const [machine, digest] = newIds(2) as [string, string]
  const record = newToken(machine)
  await tokens.save(machine, digest, record, farMs())
  let found: unknown

  const calls = await callsDuring([redis], async () => {
    found = await Promise.all([
      tokens.findAny(machine, digest),
      tokens.findAny(machine, 'another digest'),
      tokens.findAny(grant.grantId, `first ${grant.grantId}`),
      tokens.findAny(newId(), digest),
    ])
  })

  t.equal(calls, 1)
  t.match(found, [{ kind: 'access', record }, undefined, { kind: 'refresh', record: grant.record }, undefined])
})

t.test('a server of several slots behind one address gets one call for each grant', async t => {
  const node = await startLonelyNode(t)
  const store = await open(t, node.url)
  const { isRevokedOf } = await revokeSome(store)

  t.same(await isRevokedOf(1), only(2, 4))
  t.same(await Promise.all(newIds(5).map(id => store.tokens.findAny(id, 'digest'))), Array(5).fill(undefined))
})

t.test('in a Cluster the tokens of one grant are one call, wherever the others are', async t => {
  const cluster = await startCluster(t)
  const store = await open(t, cluster.url)
  const { isRevokedOf } = await revokeSome(store)
  const [one, other] = newIds(2) as [string, string]
  const jtis = [`${one}.1`, `${other}.1`, `${one}.2`, `${other}.2`]

  t.same(await isRevokedOf(1), only(2, 4))
  const calls = await callsDuring(cluster.nodes, () => Promise.all(jtis.map(store.revocations.isRevoked)))
  t.equal(calls, 2)
})

t.test('while Redis is away, each question fails with StoreUnavailableError', async t => {
  const mortal = await startRedis(t)
  const store = await open(t, mortal.url)
  await store.revocations.isRevoked(newId())
  await mortal.kill()

  const answers = await Promise.allSettled([
    ...newIds(3).map(store.revocations.isRevoked),
    ...newIds(3).map(id => store.tokens.findAny(id, 'digest')),
  ])

  t.equal(answers.length, 6)
  for (const answer of answers) t.ok(answer.status === 'rejected' && answer.reason instanceof StoreUnavailableError)
})
