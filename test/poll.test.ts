import t from 'tap'
import { poll } from '../src/poll.ts'
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

t.test('polls whose pauses are multiples of each other end their pauses at the same time', async t => {
  const timesMs: Record<'short' | 'long', number[]> = { short: [], long: [] }
  const short = poll(() => timesMs.short.push(performance.now()), 500)
  t.teardown(short.close)
  await new Promise(resolve => setTimeout(resolve, 120))
  const long = poll(() => timesMs.long.push(performance.now()), 1000)
  t.teardown(long.close)

  await eventually(() => timesMs.long.length === 2)

  for (const atMs of timesMs.long) {
    const nearest = timesMs.short.toSorted((one, other) => Math.abs(one - atMs) - Math.abs(other - atMs))[0]
    const since = (ms: number | undefined): number => Math.round((ms ?? 0) / 500)
    t.equal(since(nearest), since(atMs), 'in the same half second of the clock of the process')
  }
})
