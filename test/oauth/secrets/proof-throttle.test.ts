import t from 'tap'
import { type ClientAuthFailureReason, OAuthError } from '../../../src/errors.ts'
import { createBruteForceLimit } from '../../../src/gateway/authn/brute-force-limit.ts'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
import { createProofThrottle, type ProofResult } from '../../../src/oauth/secrets/proof-throttle.ts'
import { createMemoryLimiter } from '../../../src/stores/memory/limiter.ts'
import { createManualClock } from '../support/authorization-server.ts'

const caller = {
  name: 'app',
  address: '192.0.2.1',
  toRefusal: (proofFault: ClientAuthFailureReason) => new OAuthError('invalid_client', 'No', { proofFault }),
}

const start = () => {
  const clock = createManualClock()
  const limit = { limit: 3, windowSec: 60 }
  return createProofThrottle({
    clients: createClients([]),
    failures: createBruteForceLimit(createMemoryLimiter(clock), limit, clock.nowMs),
  })
}

t.test('a proof that needs no I/O is verified at once, without a promise', async t => {
  const { run } = start()

  t.equal(
    run(caller, () => ({ proven: 'yes' })),
    'yes',
  )
})

t.test('a proof that waits for keys does not delay another one of the same name and address', async t => {
  const { run } = start()
  const keys = Promise.withResolvers<void>()
  let looks = 0
  const waiting = run(caller, (): ProofResult<string> => (looks++ === 0 ? { later: keys.promise } : { proven: 'late' }))

  t.equal(await run(caller, () => ({ proven: 'soon' })), 'soon')
  t.equal(looks, 1)
  keys.resolve()
  t.equal(await waiting, 'late', 'and it is checked again when the keys are there')
})

t.test('the same number of wrong proofs is checked whether they are concurrent or sequential', async t => {
  const { run } = start()
  let looks = 0
  const bad = (): ProofResult<string> => {
    looks++
    return { fault: 'signature' }
  }

  const answers = await Promise.allSettled(Array.from({ length: 20 }, async () => run(caller, bad)))

  t.equal(looks, 4, 'three within the limit, and one above it')
  t.ok(answers.every(({ status }) => status === 'rejected'))
  t.throws(() => run(caller, () => ({ proven: 'good' })), { code: 'rate_limit_exceeded' }, 'whatever the credentials')
})

t.test('a failed fetch of keys is not a wrong proof, and is not counted', async t => {
  const { run } = start()
  const away = new OAuthError('temporarily_unavailable', 'Away')

  for (let times = 0; times < 5; times++) {
    await t.rejects(async () => run(caller, () => ({ later: Promise.reject(away) })), { code: away.code })
  }
})
