import t from 'tap'
import { createBruteForceLimit } from '../../src/gateway/authn/brute-force-limit.ts'
import { createMemoryLimiter } from '../../src/stores/memory/limiter.ts'

t.test('bad tokens from an address lock out no client, whatever it is called', async t => {
  const failures = createBruteForceLimit(createMemoryLimiter(), { limit: 1, windowSec: 60 }, () => Date.now())

  for (let i = 0; i < 10; i++) t.equal(await failures.countAddress('192.0.2.1'), 0)
  const eleventh = await failures.countAddress('192.0.2.1')

  t.ok(eleventh > 0, 'they are limited')
  t.equal(failures.blockedMs('token', '192.0.2.1'), 0)
  t.equal(await failures.count('token', '192.0.2.1'), 0, 'nor do they count for it')
})
