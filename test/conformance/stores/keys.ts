import type { Test } from 'tap'
import type { KeyRecord } from '../../../src/stores/ports/keys.ts'
import { eventually } from '../../support/eventually.ts'
import { newId, newKey } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testKeys = async (t: Test, open: OpenStore): Promise<void> => {
  t.test('one first key of each algorithm is stored, oldest first, and no second one beside it', async t => {
    const { store, clock } = await open(t)
    const untilMs = clock.nowMs() + 600_000
    const older = newKey('ES256', 1000)
    const newer = newKey('RS256', 2000)

    t.same(await store.keys.load(untilMs), [], 'a new store has no keys')
    t.same(await store.keys.create(newer, undefined, untilMs), [newer])
    t.same(await store.keys.create(older, undefined, untilMs), [older, newer])
    t.same(await store.keys.create(newKey('ES256', 500), undefined, untilMs), [older, newer])
    t.same(await store.keys.load(untilMs), [older, newer])
  })
  t.test('a key succeeds only the newest one of its algorithm', async t => {
    const { store, clock } = await open(t)
    const untilMs = clock.nowMs() + 600_000
    const first = newKey('ES256', 1000)
    const second = { ...newKey('ES256', 2000), activeAtMs: 3000 }
    const other = newKey('RS256', 4000)
    await store.keys.create(first, undefined, untilMs)
    await store.keys.create(other, undefined, untilMs)

    t.same(await store.keys.create(newKey('ES256', 5000), other.kid, untilMs), [first, other])
    t.same(await store.keys.create(newKey('ES256', 5000), newId(), untilMs), [first, other])
    t.same(await store.keys.create(second, first.kid, untilMs), [first, second, other])
    t.same(await store.keys.create(newKey('ES256', 5000), first.kid, untilMs), [first, second, other])
    t.same(await store.keys.load(untilMs), [first, second, other])
  })
  t.test('of keys of the same millisecond every process takes the same one as the newest', async t => {
    const { store, clock } = await open(t)
    const untilMs = clock.nowMs() + 600_000
    // In the order of their bytes, which differs from the order of a dictionary.
    const [first, second, third] = [named('B'), named('_'), named('a')]
    await store.keys.create(third, undefined, untilMs)
    await store.keys.create(first, third.kid, untilMs)

    t.same(await store.keys.create(second, first.kid, untilMs), [first, third])
    t.same(await store.keys.create(second, third.kid, untilMs), [first, second, third])
  })
  t.test('a removed key is gone, and the others stay', async t => {
    const { store, clock } = await open(t)
    const untilMs = clock.nowMs() + 600_000
    const [first, second] = [newKey('ES256', 1000), newKey('ES256', 2000)]
    await store.keys.create(first, undefined, untilMs)
    await store.keys.create(second, first.kid, untilMs)

    await store.keys.remove(newId())
    t.same(await store.keys.load(untilMs), [first, second])
    await store.keys.remove(first.kid)
    t.same(await store.keys.load(untilMs), [second])
  })
  t.test('keys that are read stay, keys that are not read expire', async t => {
    const { store, clock, elapse } = await open(t)
    const key = newKey('ES256', 1000)
    await store.keys.create(key, undefined, clock.nowMs() + shortMs)
    await store.keys.load(clock.nowMs() + 2 * shortMs)
    await elapse(shortMs)

    t.same(await store.keys.load(clock.nowMs() + 1), [key])
    await elapse(shortMs)
    await eventually(async () => (await store.keys.load(clock.nowMs() + 1)).length === 0)
  })
}

const named = (kid: string): KeyRecord => ({ ...newKey('ES256', 1000), kid })
