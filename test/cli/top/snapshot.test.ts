import t from 'tap'
import { counterDeltas } from '../../../src/cli/top/counter-deltas.ts'
import { quantileOf } from '../../../src/cli/top/quantile.ts'
import { durations, requests, scrapeOf, viewOf } from './support.ts'

t.test('a rate is the increase since the previous scrape, per second', async t => {
  const { sec, samples } = counterDeltas(scrapeOf(requests('A', 100)), scrapeOf(requests('A', 130), 2))

  t.equal(sec, 2)
  t.same([...samples.values()], [30])
})

t.test(
  'after a restart every counter has grown from zero, even a counter that is above its previous value',
  async t => {
    const before = requests('A', 100) + requests('B', 5)
    const view = viewOf(before, requests('A', 10) + requests('B', 7))

    t.same(
      view.groupings.map(({ name, requestsPerSec }) => [name, requestsPerSec]),
      [
        ['A', 10],
        ['B', 7],
      ],
    )
  },
)

t.test('a missing counter counts as a restart as well', async t => {
  const view = viewOf(requests('A', 100) + requests('B', 5), requests('B', 8))

  t.same(
    view.groupings.map(({ name, requestsPerSec }) => [name, requestsPerSec]),
    [['B', 8]],
  )
})

t.test('a gauge shows its latest value, which may be lower than before', async t => {
  const workers = (count: number): string => `sidegate_workers ${count}\n`
  const view = viewOf(requests('A', 1) + workers(4), requests('A', 3) + workers(2))

  t.equal(view.workers, 2)
  t.equal(view.groupings[0]?.requestsPerSec, 2)
})

t.test('groupings are sorted by rate, and groupings with equal rates by name', async t => {
  const view = viewOf('', requests('C', 1) + requests('A', 1) + requests('B', 9))

  t.same(
    view.groupings.map(({ name }) => name),
    ['B', 'A', 'C'],
  )
})

t.test('errors are a share of the requests answered between the two scrapes', async t => {
  const before = requests('A', 1000) + requests('A', 10, 404) + requests('A', 10, 502)
  const view = viewOf(before, requests('A', 1002) + requests('A', 11, 404) + requests('A', 11, 502))

  t.match(view.groupings, [{ clientErrorShare: 0.25, serverErrorShare: 0.25 }])
  t.match(view.total, [{ requestsPerSec: 4, clientErrorShare: 0.25 }])
})

t.test('refusals are counted while the store is unavailable, too', async t => {
  const decided = (decision: string, count: number): string =>
    `sidegate_plan_decisions_total{plan="p",grouping="A",decision="${decision}"} ${count}\n`
  const view = viewOf(
    '',
    requests('A', 9) + decided('allowed', 4) + decided('denied', 2) + decided('closed', 1) + decided('local', 5),
  )

  t.equal(view.groupings[0]?.refusalsPerSec, 3)
  t.equal(view.alonePerSec, 6)
})

t.test('latencies are those of the requests answered between the two scrapes', async t => {
  const before = durations('A', { 0.1: 1000, 1: 1000, '+Inf': 1000 })
  const view = viewOf(
    requests('A', 1) + before,
    requests('A', 2) + durations('A', { 0.1: 1000, 1: 1010, '+Inf': 1010 }),
  )

  t.same(view.groupings[0]?.p50, { sec: 0.55, isBeyond: false })
})

t.test('members are counted as one worker sees them', async t => {
  const members = (state: string, count: number): string =>
    `sidegate_upstream_endpoints{upstream="u",state="${state}"} ${count}\n`
  const view = viewOf('', `sidegate_workers 2\n${members('available', 5)}${members('ejected', 1)}`)

  t.match(view.upstreams, [{ name: 'u', available: 2.5, away: 0.5 }])
})

t.test('a quantile is interpolated linearly within its bucket', async t => {
  const buckets = new Map([
    [0.1, 50],
    [0.2, 100],
    [Infinity, 100],
  ])

  t.same(quantileOf(0.5, buckets), { sec: 0.1, isBeyond: false })
  t.equal(quantileOf(0.75, buckets)?.sec.toFixed(3), '0.150')
})

t.test('a quantile beyond the last bound is shown as above that bound', async t => {
  const buckets = new Map([
    [30, 1],
    [Infinity, 100],
  ])

  t.same(quantileOf(0.99, buckets), { sec: 30, isBeyond: true })
})

t.test('without observations there is no quantile', async t => {
  t.equal(quantileOf(0.5, new Map()), undefined)
  t.equal(quantileOf(0.5, new Map([[Infinity, 0]])), undefined)
  t.equal(quantileOf(0.5, new Map([[Infinity, Number.NaN]])), undefined)
})

t.test('invalid bounds and counts of a histogram are skipped', async t => {
  const counts: Readonly<Record<string, number>> = {
    abc: 4,
    '': 4,
    '-1': 4,
    0.1: Number.NaN,
    0.5: 0,
    1: 10,
    '+Inf': 10,
  }
  const view = viewOf(requests('A', 1), requests('A', 2) + durations('A', counts))

  t.same(view.groupings[0]?.p50, { sec: 0.75, isBeyond: false })
})
