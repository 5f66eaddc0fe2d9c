import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { type Ticked, TimeoutTicker } from '../../../src/http/server/timeout-ticker.ts'
import { eventually } from '../../support/eventually.ts'

/** Entries of a ticker; `onTick` receives the entry of each tick. */
const fill = (count: number, timeoutsMs: readonly number[], onTick: (nth: number) => void = () => undefined) => {
  const ticker = new TimeoutTicker<Ticked>(timeoutsMs)
  const entries = Array.from({ length: count }, (_, nth): Ticked => ({ tick: () => onTick(nth) }))
  for (const entry of entries) ticker.add(entry)
  return { ticker, entries }
}

const occupy = (forMs: number): void => {
  for (const fromMs = performance.now(); performance.now() - fromMs < forMs; );
}

t.test('every entry is visited once, and other callbacks have turns meanwhile', async t => {
  const count = 300
  const { ticker, entries } = fill(count, [])
  const seen = new Set<Ticked>()
  let visits = 0
  ticker.visitAll(entry => {
    visits++
    seen.add(entry)
    occupy(0.02)
  })
  t.ok(visits < count, `${visits} in the first turn`)
  await nextTurn()
  t.ok(visits < count, `${visits} after the second`)
  await eventually(() => visits >= count)

  t.equal(visits, count)
  t.same(seen, new Set(entries))
})

t.test('few entries are visited at once, and the end of the visit is reported', async t => {
  const { ticker } = fill(2, [])
  let visits = 0
  let isDone = false
  ticker.visitAll(
    () => visits++,
    () => (isDone = true),
  )

  t.equal(visits, 2)
  t.ok(isDone)
})

t.test('an entry may leave while it is visited', async t => {
  const { ticker } = fill(10, [])
  let visits = 0
  ticker.visitAll(entry => {
    visits++
    ticker.delete(entry)
  })

  await eventually(() => visits === 10)
  t.equal(ticker.size, 0)
})

t.test('entries are looked at four times in the shortest timeout, for as long as they stay', async t => {
  const ticks = [0, 0]
  const { ticker, entries } = fill(2, [80, 0, 60_000], nth => {
    ticks[nth] = (ticks[nth] ?? 0) + 1
  })
  const [first, second] = entries
  await eventually(() => ticks.every(count => count >= 4))
  if (first) ticker.delete(first)
  if (first) ticker.delete(first)
  const [ticksOfFirst] = ticks
  await eventually(() => (ticks[1] ?? 0) >= 8)

  t.equal(ticks[0], ticksOfFirst)
  t.equal(ticker.size, 1)
  if (second) ticker.delete(second)
  t.equal(ticker.size, 0)
})

t.test('a ticker does not keep the process alive, however many entries it has', async t => {
  const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const { ticker, entries } = fill(1000, [1000])
  t.equal(timers(), before)
  for (const entry of entries) ticker.delete(entry)

  t.equal(timers(), before)
  t.equal(ticker.size, 0)
})

t.test('a ticker with long timeouts looks sooner where that is asked for', async t => {
  let ticks = 0
  const { ticker, entries } = fill(1, [60_000], () => ticks++)
  const startedAtMs = performance.now()
  ticker.expectSoon()
  await eventually(() => ticks > 0)

  t.ok(performance.now() - startedAtMs < 900, 'the usual tick is a second')
  for (const entry of entries) ticker.delete(entry)
})
