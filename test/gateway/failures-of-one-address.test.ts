import t from 'tap'
import { createBruteForceLimit } from '../../src/gateway/authn/brute-force-limit.ts'
import { createMemoryLimiter } from '../../src/stores/memory/limiter.ts'
import { createTestClock } from '../support/test-clock.ts'

t.test('an address that fails under ever new names is refused after ten times as many as for one name', async t => {
  const clock = createTestClock()
  const failures = createBruteForceLimit(createMemoryLimiter(clock), { limit: 3, windowSec: 60 }, clock.nowMs)

  for (let nth = 1; nth <= 30; nth++) t.equal(await failures.count(`name ${nth}`, '192.0.2.1'), 0, `failure ${nth}`)
  t.equal(failures.blockedMs('another name', '192.0.2.1'), 0)
  t.ok((await failures.count('name 31', '192.0.2.1')) > 0)

  t.ok(failures.blockedMs('another name', '192.0.2.1') > 0, 'a name that never failed')
  t.equal(failures.blockedMs('another name', '192.0.2.2'), 0, 'another address')
  clock.advance(60_000)
  t.equal(failures.blockedMs('another name', '192.0.2.1'), 0, 'once the window has passed')
})
