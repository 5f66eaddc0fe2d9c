import t from 'tap'
import { createMemoryLimiter } from '../../../src/stores/memory/limiter.ts'
import { testLimiter } from '../../conformance/limiters.ts'
import { createTestClock } from '../../support/test-clock.ts'

testLimiter(t, async () => {
  const clock = createTestClock()
  return { limiter: createMemoryLimiter(clock), nowMs: clock.nowMs, elapse: async ms => clock.advance(ms) }
})

t.test('a verdict is there at once', async t => {
  const verdict = createMemoryLimiter().charge({ key: 'key', limit: 1, windowMs: 1000, whenStoreFails: 'local' })

  t.same(verdict, { allowed: true, remaining: 0, waitMs: 1000, source: 'store' })
})
