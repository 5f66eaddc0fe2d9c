import type { Test } from 'tap'
import { newId } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testSubjects = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { subjects } = store

  t.test('a subject that was remembered is known, and no other', async t => {
    const digest = newId()
    t.equal(await subjects.has(digest), false)
    await subjects.remember(digest, clock.nowMs() + 600_000)

    t.equal(await subjects.has(digest), true)
    t.equal(await subjects.has(`${digest}.`), false)
  })
  t.test(
    'a subject is known until its instant; a later one prolongs that, an earlier one does not shorten it',
    async t => {
      const [short, prolonged, long] = [newId(), newId(), newId()]
      for (const digest of [short, prolonged]) await subjects.remember(digest, clock.nowMs() + shortMs)
      for (const digest of [prolonged, long]) await subjects.remember(digest, clock.nowMs() + 600_000)
      await subjects.remember(long, clock.nowMs() + shortMs)
      await elapse(shortMs)

      t.equal(await subjects.has(short), false)
      t.equal(await subjects.has(prolonged), true)
      t.equal(await subjects.has(long), true)
    },
  )
}
