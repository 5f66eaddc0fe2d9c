import t from 'tap'
import { baseline, rival, type Scenario } from './scenario.ts'
import { type Row, toTable } from './table.ts'

const row = (name: string, rates: readonly number[], facts: Partial<Scenario> = {}): Row => ({
  scenario: { name, title: name, load: () => Promise.reject(new Error('not measured here')), ...facts },
  measurements: rates.map((requestsPerSec, index) => ({
    requestsPerSec,
    p50Us: 1500,
    p99Us: 9000,
    cpuUsPerRequest: 10 + index,
    failed: index,
  })),
})

const cellsOf = (table: string): readonly string[][] => table.split('\n').map(line => line.trim().split(/ {2,}/))

t.test('a row shows the medians of its rounds, in relation to the baseline', async t => {
  const [, first, second] = cellsOf(
    toTable([row(baseline, [90, 100, 500]), row('open', [50, 250, 9000], { goals: { [baseline]: 2 } })]),
  )

  t.same(first, [baseline, '100', '11.0 µs', '1.50 ms', '9.00 ms', '1.00', '3'])
  t.same(second, ['open', '250', '11.0 µs', '1.50 ms', '9.00 ms', '2.50', '>= 2', '3'])
})

t.test('of an even number of rounds the median lies between the middle two', async t => {
  const [, first] = cellsOf(toTable([row(baseline, [400, 100, 300, 200])]))

  t.equal(first?.[1], '250')
})

t.test('a goal over another row of the same run has a star where it is missed', async t => {
  const goals = { [baseline]: 3, [rival]: 1.25 }
  const rows = [row(baseline, [100]), row(rival, [200]), row('slow', [240], { goals }), row('fast', [320], { goals })]

  const [, , , slow, fast] = cellsOf(toTable(rows))

  t.same(slow?.slice(4), ['9.00 ms', '2.40', '>= 3 *', '1.20', '>= 1.25 *', '0'])
  t.same(fast?.slice(4), ['9.00 ms', '3.20', '>= 3', '1.60', '>= 1.25', '0'])
})

t.test('without the other row there is no ratio to it', async t => {
  const [, , only] = cellsOf(toTable([row(baseline, [100]), row('fast', [320], { goals: { [rival]: 1.25 } })]))

  t.same(only?.slice(4), ['9.00 ms', '3.20', '0'])
})
