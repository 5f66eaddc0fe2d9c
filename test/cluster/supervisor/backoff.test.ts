import t from 'tap'
import { createBackoff, healthyAfterMs, longestDelayMs } from '../../../src/cluster/supervisor/backoff.ts'

t.test('the first death has no delay; each further death doubles the delay, up to a maximum', async t => {
  const backoff = createBackoff()

  const delays = Array.from({ length: 8 }, () => backoff.afterDeath(0))

  t.same(delays, [0, 250, 500, 1000, 2000, 4000, longestDelayMs, longestDelayMs])
})

t.test(
  'a worker that served long enough is replaced at once; a millisecond less, and the replacement is delayed',
  async t => {
    const backoff = createBackoff()
    backoff.afterDeath(0)

    t.equal(backoff.afterDeath(healthyAfterMs - 1), 250)
    t.equal(backoff.afterDeath(healthyAfterMs), 0)
    t.equal(backoff.afterDeath(0), 250, 'the delay starts again from the first value')
  },
)
