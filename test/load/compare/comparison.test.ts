import t from 'tap'
import { type Comparison, isWithin, toCompareTable } from './comparison.ts'

const measured = (cpuUsPerRequest: number) => ({
  cpuUsPerRequest,
  requestsPerSec: 1e6 / cpuUsPerRequest,
  p50Us: 1,
  p99Us: 1,
  failed: 0,
})

const comparisonOf = (...pairs: readonly (readonly [other: number, own: number])[]): Comparison => ({
  title: 'a row',
  pairs: pairs.map(([other, own]) => ({ other: measured(other), own: measured(own) })),
})

t.test('a machine that gets slower from pair to pair spoils nothing', async t => {
  const comparison = comparisonOf([50, 50], [100, 101], [200, 199])

  t.ok(isWithin([comparison]))
  t.match(toCompareTable([comparison]), /\| a row \| 100\.0 µs \| 101\.0 µs \| 1\.000 \| .* \| 1\.000 \| 0 \|/)
})

t.test('a checkout that takes 4 % more is not within the bound, and has a star', async t => {
  const comparison = comparisonOf([100, 104], [50, 52], [200, 200])

  t.notOk(isWithin([comparisonOf([100, 100]), comparison]))
  t.match(toCompareTable([comparison]), /\| 1\.040 \\\* \|/)
})
