import type { Test } from 'tap'
import type { NotBefore } from '../../../src/stores/ports/not-before.ts'
import { eventually } from '../../support/eventually.ts'
import { newId } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testCutoffs = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { cutoffs } = store
  const newCutoff = (changes: Partial<NotBefore> = {}): NotBefore => {
    const nowMs = clock.nowMs()
    return { client_id: newId(), throughSec: Math.floor(nowMs / 1000), untilMs: nowMs + 600_000, ...changes }
  }
  const seenSince = async (cursor: string | undefined): Promise<readonly string[]> =>
    (await cutoffs.since(cursor)).cutoffs.map(cutoff => JSON.stringify(cutoff))
  const shows = (seen: readonly string[], cutoff: NotBefore): boolean => seen.includes(JSON.stringify(cutoff))

  t.test('a cutoff of a client, of a subject, or of both is read as it was added', async t => {
    const { client_id: _, ...ofNobody } = newCutoff()
    const added = [newCutoff(), { sub: 'f3 "ä" a1', ...ofNobody }, { client_id: 'demo', sub: newId(), ...ofNobody }]
    for (const cutoff of added) await cutoffs.add(cutoff)

    const { cutoffs: found } = await cutoffs.since(undefined)

    for (const cutoff of added)
      t.ok(found.some(({ client_id, sub }) => client_id === cutoff.client_id && sub === cutoff.sub))
    t.match(found.at(-1), added.at(-1))
  })
  t.test('a reader with any cursor from before a cutoff reads it', async t => {
    const before = newCutoff()
    await cutoffs.add(before)
    const { cursor } = await cutoffs.since(undefined)
    const after = [newCutoff(), newCutoff()]
    for (const cutoff of after) await cutoffs.add(cutoff)

    const fresh = await seenSince(cursor)

    t.ok(after.every(cutoff => shows(fresh, cutoff)))
    t.ok(shows(await seenSince(undefined), before))
  })
  t.test('a reader that follows with its cursor misses nothing while writers write', async t => {
    const added = Array.from({ length: 60 }, () => newCutoff())
    const seen = new Set<string>()
    let cursor: string | undefined
    const follow = async (): Promise<void> => {
      const page = await cutoffs.since(cursor)
      cursor = page.cursor
      for (const cutoff of page.cutoffs) seen.add(JSON.stringify(cutoff))
    }
    const writing = Promise.all(added.map(cutoff => cutoffs.add(cutoff)))
    for (let i = 0; i < 10; i++) await follow()
    await writing
    await follow()

    t.ok(added.every(cutoff => seen.has(JSON.stringify(cutoff))))
  })
  t.test('two cutoffs for one owner are both read, so that the later one applies', async t => {
    const first = newCutoff()
    const second = { ...first, throughSec: first.throughSec + 60 }
    await cutoffs.add(first)
    await cutoffs.add(second)

    t.ok(shows(await seenSince(undefined), second))
  })
  t.test('a cutoff that no token can fall under is not read any longer', async t => {
    const cutoff = newCutoff({ untilMs: clock.nowMs() + shortMs })
    await cutoffs.add(cutoff)
    t.ok(shows(await seenSince(undefined), cutoff))
    await elapse(shortMs)

    await eventually(async () => !shows(await seenSince(undefined), cutoff))
  })
}
