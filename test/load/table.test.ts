import t from 'tap'
import { baseline, type Scenario } from './scenario.ts'
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
  const [, first, second] = cellsOf(toTable([row(baseline, [90, 100, 500]), row('open', [50, 250, 9000], { goal: 2 })]))

  t.same(first, [baseline, '100', '11.0 µs', '1.50 ms', '9.00 ms', '1.00', '3'])
  t.same(second, ['open', '250', '11.0 µs', '1.50 ms', '9.00 ms', '2.50', '>= 2', '3'])
})

t.test('of an even number of rounds the median lies between the middle two', async t => {
  const [, first] = cellsOf(toTable([row(baseline, [400, 100, 300, 200])]))

  t.equal(first?.[1], '250')
})
