import t from 'tap'
import { alignedMs, poll } from '../src/poll.ts'
import { eventually } from './support/eventually.ts'

t.test('what is polled is done again and again until it is closed', async t => {
  let times = 0
  const polling = poll(() => {
    times++
  }, 1)
  t.teardown(polling.close)
  await eventually(() => times >= 3)

  polling.close()
  const before = times
  await new Promise(resolve => setTimeout(resolve, 20))

  t.equal(times, before)
})

t.test('it is done one at a time, however long it takes', async t => {
  let underWay = 0
  let most = 0
  let times = 0
  const polling = poll(async () => {
    underWay++
    most = Math.max(most, underWay)
    await new Promise(resolve => setTimeout(resolve, 5))
    underWay--
    times++
  }, 1)
  t.teardown(polling.close)

  await eventually(() => times >= 3)

  t.equal(most, 1)
})

t.test('one that is closed while it is under way is not done again', async t => {
  let times = 0
  const end = Promise.withResolvers<void>()
  const polling = poll(() => {
    times++
    return end.promise
  }, 1)
  await eventually(() => times === 1)

  polling.close()
  end.resolve()
  await new Promise(resolve => setTimeout(resolve, 20))

  t.equal(times, 1)
})

t.test('the pause may be another one each time', async t => {
  const pauses: number[] = []
  const polling = poll(
    () => undefined,
    () => {
      pauses.push(pauses.length)
      return pauses.length
    },
  )
  t.teardown(polling.close)

  await eventually(() => pauses.length >= 3)

  t.same(pauses.slice(0, 3), [0, 1, 2])
})

t.test('pauses that are multiples of each other end at the same time', async t => {
  const endOf = (pauseMs: number, nowMs: number): number => nowMs + alignedMs(pauseMs, nowMs)

  t.equal(endOf(750, 100_123), 100_500)
  t.equal(endOf(1500, 100_123), 100_500)
  t.equal(endOf(750, 100_500), 101_250, 'a pause that begins on time has its full length')
  t.equal(endOf(750, 100_502), 101_250, 'a late call does not shift those that follow')
})

t.test('an aligned pause lasts at least a quarter and at most five quarters of its length', async t => {
  const lengthsMs = Array.from({ length: 1000 }, (_, nowMs) => alignedMs(1000, nowMs))

  t.equal(Math.min(...lengthsMs), 250)
  t.equal(Math.max(...lengthsMs), 1249)
})

t.test('a short pause keeps its length', async t => {
  t.equal(alignedMs(499, 100_123), 499)
})
