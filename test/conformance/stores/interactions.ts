import type { Test } from 'tap'
import { newId, newInteraction } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testInteractions = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { interactions } = store

  t.test('an interaction is replaced only by a writer that read its last version', async t => {
    const id = newId()
    const record = newInteraction()
    t.equal(await interactions.find(id), undefined)
    t.equal(await interactions.replace(id, 1, record), false)
    await interactions.create(id, record, clock.nowMs() + 600_000)
    const first = await interactions.find(id)
    const next = { ...record, stage: 'consent', sub: 'f3a1' } as const

    t.same(first?.record, record)
    t.equal(await interactions.replace(id, first?.version ?? 0, next), true)
    t.equal(await interactions.replace(id, first?.version ?? 0, record), false)
    const second = await interactions.find(id)
    t.same(second?.record, next)
    t.equal(await interactions.replace(id, second?.version ?? 0, record), true)
  })
  t.test('a replacement does not prolong an interaction', async t => {
    const id = newId()
    await interactions.create(id, newInteraction(), clock.nowMs() + shortMs)
    const found = await interactions.find(id)
    t.equal(await interactions.replace(id, found?.version ?? 0, newInteraction()), true)
    await elapse(shortMs)

    t.equal(await interactions.find(id), undefined)
    t.equal(await interactions.replace(id, (found?.version ?? 0) + 1, newInteraction()), false)
  })
}
