import type { Test } from 'tap'
import { newId } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testReplays = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { replays } = store
  const farMs = clock.nowMs() + 600_000

  t.test('an id is spent once; another one is another matter', async t => {
    const id = newId()

    t.equal(await replays.spend([{ id, untilMs: farMs }]), true)
    t.equal(await replays.spend([{ id, untilMs: farMs }]), false)
    t.equal(await replays.spend([{ id: `${id}.`, untilMs: farMs }]), true)
  })
  t.test('of several ids one that is known is enough to refuse; nothing at all is never refused', async t => {
    const [known, fresh] = [newId(), newId()]
    await replays.spend([{ id: known, untilMs: farMs }])

    t.equal(
      await replays.spend([
        { id: fresh, untilMs: farMs },
        { id: known, untilMs: farMs },
      ]),
      false,
    )
    t.equal(
      await replays.spend([
        { id: newId(), untilMs: farMs },
        { id: newId(), untilMs: farMs },
      ]),
      true,
    )
    t.equal(await replays.spend([]), true)
  })
  t.test('an id is known until its instant, and a repetition does not shorten that', async t => {
    const [short, long] = [newId(), newId()]
    await replays.spend([{ id: short, untilMs: clock.nowMs() + shortMs }])
    await replays.spend([{ id: long, untilMs: farMs }])
    t.equal(await replays.spend([{ id: short, untilMs: clock.nowMs() + 1 }]), false)
    t.equal(await replays.spend([{ id: long, untilMs: clock.nowMs() + 1 }]), false)
    await elapse(shortMs)

    t.equal(await replays.spend([{ id: short, untilMs: farMs }]), true)
    t.equal(await replays.spend([{ id: long, untilMs: farMs }]), false)
  })
}
