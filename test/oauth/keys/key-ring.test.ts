import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { openKeyRing } from '../../../src/oauth/keys/key-ring.ts'
import { createMemoryStore } from '../../../src/stores/memory.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock } from '../support/authorization-server.ts'

const open = async (t: Test, store: ReturnType<typeof createMemoryStore>, clock = createManualClock()) => {
  const ring = await openKeyRing(store.keys, clock)
  t.teardown(() => ring.close())
  return ring
}

t.test('rings that open at once over one store hold the same keys', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)

  const rings = await Promise.all(Array.from({ length: 8 }, () => open(t, store, clock)))

  t.equal(new Set(rings.map(ring => ring.current().kid)).size, 1)
  t.equal(new Set(rings.map(ring => ring.digest('text'))).size, 1)
  t.equal((await store.keys.load(clock.nowMs() + 1000)).length, 2)
})

t.test('what is published is the public half of the signing key alone', async t => {
  const clock = createManualClock()
  const ring = await open(t, createMemoryStore(clock), clock)

  const { keys } = ring.publicJwks()

  t.equal(keys.length, 1)
  t.same(Object.keys(keys[0] ?? {}).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  t.equal(keys[0]?.kid, ring.current().kid)
  t.equal(ring.find(ring.current().kid), ring.current())
  t.equal(ring.find('unknown'), undefined)
})

t.test('rings over different stores have nothing in common', async t => {
  const clock = createManualClock()
  const [one, two] = [await open(t, createMemoryStore(clock), clock), await open(t, createMemoryStore(clock), clock)]

  t.not(one.current().kid, two.current().kid)
  t.not(one.digest('text'), two.digest('text'))
})

t.test('keys that the store has lost are put back as they were at the next renewal', async t => {
  const clock = createManualClock()
  const store = createMemoryStore(clock)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const ring = await open(t, store, clock)
  const before = { kid: ring.current().kid, digest: ring.digest('text') }
  clock.advanceSec(91 * 24 * 3600)
  t.same(await store.keys.load(clock.nowMs() + 1000), [], 'forgotten, since nobody renewed them')

  mock.timers.tick(10_000)
  mock.timers.reset()
  await eventually(async () => (await store.keys.load(clock.nowMs() + 1000)).length === 2)

  const other = await open(t, store, clock)
  t.same({ kid: other.current().kid, digest: other.digest('text') }, before)
})
