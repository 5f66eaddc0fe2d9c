import t from 'tap'
import { createMemoryLimiter } from '../../../src/stores/memory/limiter.ts'
import { testLimiter } from '../../conformance/limiters.ts'
import { newCharge } from '../../support/charges.ts'
import { createTestClock } from '../../support/test-clock.ts'

testLimiter(t, async () => {
  const clock = createTestClock()
  return { limiter: createMemoryLimiter(clock), nowMs: clock.nowMs, elapse: async ms => clock.advance(ms) }
})

t.test('a verdict is a value, not a promise', async t => {
  const verdict = createMemoryLimiter().charge(newCharge(1))

  t.same(verdict, {
    allowed: true,
    shadowDenied: false,
    rules: [{ remaining: 0, waitMs: 1000 }],
    waitMs: 1000,
    source: 'store',
  })
})
