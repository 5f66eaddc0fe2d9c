import type { Test } from 'tap'
import { newId } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testReplays = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { replays } = store
  const farMs = clock.nowMs() + 600_000

  t.test('an id is accepted once, and does not affect another id', async t => {
    const id = newId()

    t.same(await replays.spend([{ id, untilMs: farMs }]), [true])
    t.same(await replays.spend([{ id, untilMs: farMs }]), [false])
    t.same(await replays.spend([{ id: `${id}.`, untilMs: farMs }]), [true])
  })
  t.test('several ids get separate answers in their order, and the new ones are used up', async t => {
    const newUse = () => ({ id: newId(), untilMs: farMs })
    const [known, fresh, other] = [newUse(), newUse(), newUse()]
    await replays.spend([known])

    t.same(await replays.spend([fresh, known, other]), [true, false, true])
    t.same(await replays.spend([known, fresh]), [false, false])
    t.same(await replays.spend([]), [])
  })
  t.test('an id whose instant has passed is not new: it may have been spent before', async t => {
    const id = newId()
    const nowMs = clock.nowMs()
    for (const untilMs of [nowMs, nowMs - 1, nowMs - 86_400_000])
      t.same(await replays.spend([{ id, untilMs }]), [false])

    t.same(await replays.spend([{ id, untilMs: farMs }]), [true], 'the store does not remember it')
  })
  t.test('an id is known until its instant, and a repetition does not shorten that', async t => {
    const [short, long] = [newId(), newId()]
    await replays.spend([{ id: short, untilMs: clock.nowMs() + shortMs }])
    await replays.spend([{ id: long, untilMs: farMs }])
    t.same(await replays.spend([{ id: short, untilMs: clock.nowMs() + 1 }]), [false])
    t.same(await replays.spend([{ id: long, untilMs: clock.nowMs() + 1 }]), [false])
    await elapse(shortMs)

    t.same(await replays.spend([{ id: short, untilMs: farMs }]), [true])
    t.same(await replays.spend([{ id: long, untilMs: farMs }]), [false])
  })
}
