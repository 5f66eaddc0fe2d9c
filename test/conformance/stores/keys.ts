import type { Test } from 'tap'
import { eventually } from '../../support/eventually.ts'
import { newKey } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testKeys = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock } = await open(t)
  const farMs = (): number => clock.nowMs() + 600_000

  t.same(await store.keys.load(farMs()), [], 'a new store has no keys')
  const older = newKey('ES256', 1000)
  const newer = newKey('RS256', 2000)
  t.same(await store.keys.create(newer, undefined, farMs()), [newer])
  t.same(await store.keys.create(older, undefined, farMs()), [older, newer], 'another algorithm is added, oldest first')
  t.same(await store.keys.create(newKey('ES256', 500), undefined, farMs()), [older, newer], 'the same one is not')
  t.same(await store.keys.load(farMs()), [older, newer])

  await t.test('keys that are read stay, keys that are not read go', async t => {
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
