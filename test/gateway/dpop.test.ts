import t, { type Test } from 'tap'
import { authenticate } from '../../src/gateway/authn/authenticate.ts'
import type { AuthenticationDeps } from '../../src/gateway/authn/authentication-step.ts'
import { createBruteForceLimit } from '../../src/gateway/authn/brute-force-limit.ts'
import { spendProof } from '../../src/gateway/authn/dpop.ts'
import { createExchange, type Exchange, type Outcome, type Step } from '../../src/gateway/exchange.ts'
import { operationMetricsOf } from '../../src/gateway/operation-metrics.ts'
import { run } from '../../src/gateway/pipeline.ts'
import { createMemoryLimiter } from '../../src/stores/memory/limiter.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { createRequestContext } from '../http/support/request-context.ts'
import { bareJwk, newKey, type TestKey } from '../oauth/fapi/support/jws.ts'
import { issuer, type OptionChanges, startServer } from '../oauth/support/authorization-server.ts'
import { newProof, type ProofTwist } from '../oauth/support/proofs.ts'

const key = newKey('ES256')
const path = '/accounts/1'

const operation = operationMetricsOf(
  {
    grouping: 'A',
    version: '1.0.0',
    method: 'GET',
    path: '/**',
    aliases: [],
    credentials: 'bearer',
    scopes: [],
    plan: 'none',
    target: {
      kind: 'forward',
      upstream: 'up',
      forwardedHeader: 'x-forwarded',
      identity: 'headers',
      stripPrefix: '',
      dropHeaders: [],
      forwardAuthorization: false,
      maxBodyBytes: 0,
      resource: '',
    },
  },
  createRecorder(),
  () => ({ status: 400, headers: {}, body: '' }),
)

/** The steps of the gateway that ask for a proof, before an authorization server whose clock the test turns. */
const start = async (t: Test, changes: OptionChanges = {}) => {
  const server = await startServer(t, changes)
  const { clock } = server
  const deps: AuthenticationDeps = {
    authorizationServer: server.server,
    findClient: client_id => server.deps.clients.find(client_id),
    issuer,
    failures: createBruteForceLimit(createMemoryLimiter(clock), { limit: 10, windowSec: 60 }, clock.nowMs),
  }
  const proveAndSpend = [authenticate(deps), spendProof(deps)]
  const call = async (
    lines: readonly string[],
    steps: readonly Step[] = proveAndSpend,
  ): Promise<{ readonly exchange: Exchange; readonly outcome: Outcome }> => {
    const exchange = createExchange(createRequestContext(lines), undefined)
    exchange.operation = operation
    exchange.target = { path, query: 'page=2' }
    return { exchange, outcome: await run(steps, exchange) }
  }
  /** A token bound to the key; asks for the nonce first where there has to be one. */
  const newToken = async (nonce?: string): Promise<string> => {
    const dpop = [newProof(key, { uri: `${issuer}/token`, nowMs: clock.nowMs(), nonce })]
    const { body, headers } = await server.token({ grant_type: 'client_credentials' }, { as: 'app', request: { dpop } })
    return body.error === 'use_dpop_nonce' ? newToken(String(headers['dpop-nonce'])) : String(body.access_token)
  }
  const prove = (token: string, nonce?: string, twist?: ProofTwist, signer: TestKey = key): readonly string[] => [
    'Authorization',
    `DPoP ${token}`,
    'DPoP',
    newProof(signer, { method: 'GET', uri: issuer + path, nowMs: clock.nowMs(), nonce, token }, twist),
  ]
  return { ...server, call, newToken, prove, proveOnly: proveAndSpend.slice(0, 1) }
}

/** A field of the answer; every value of it, in order. */
const fieldOf = (outcome: Outcome, name: string): readonly string[] => {
  const headers = typeof outcome === 'object' ? outcome.headers : []
  return headers.filter((_, i) => i % 2 === 1 && headers[i - 1] === name)
}

t.test(
  'without a fresh nonce the gateway asks for one; shortly before its end it sends the next (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const { call, newToken, prove, clock } = await start(t)
    const token = await newToken()

    const { outcome } = await call(prove(token))

    t.match(outcome, { status: 401, body: /"DPOP_PROOF_INVALID"/ })
    t.match(fieldOf(outcome, 'www-authenticate')[0], /^DPoP .*error="use_dpop_nonce".*algs="ES256 PS256 EdDSA"/)
    const [nonce = ''] = fieldOf(outcome, 'dpop-nonce')
    const fresh = await call(prove(token, nonce))
    t.match(fresh.exchange.caller, { kind: 'token', client: { client_id: 'app' } })
    t.same(fresh.exchange.answerFields, [])
    clock.advanceSec(200)
    const aging = await call(prove(token, nonce))
    t.match(aging.exchange.caller, { kind: 'token' })
    t.match(aging.exchange.answerFields, ['dpop-nonce', /^[\w-]{43}$/])
    clock.advanceSec(100)
    t.match((await call(prove(token, nonce))).outcome, { status: 401 })
    t.match((await call(prove(token, aging.exchange.answerFields[1]))).exchange.caller, { kind: 'token' })
  },
)

t.test(
  'a proof that is not good is 401 and says why, whatever the format of its token (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const optional = { dpop: { nonce: 'optional' } } as const
    for (const format of ['jwt', 'opaque'] as const) {
      const accessToken = { format, lifetimeSec: 600, alg: 'ES256' } as const
      const { call, newToken, prove } = await start(t, { ...optional, accessToken })
      const token = await newToken()
      const refused = [
        prove(token, undefined, { claims: { ath: undefined } }),
        prove(token, undefined, { claims: { htm: 'POST' } }),
        prove(token, undefined, {}, newKey('ES256')),
        ['Authorization', `DPoP ${token}`],
      ]
      for (const lines of refused) {
        const { outcome, exchange } = await call(lines)
        t.match(outcome, { status: 401 })
        t.match(fieldOf(outcome, 'www-authenticate')[0], /^DPoP .*error="invalid_dpop_proof".*algs=/)
        t.equal(exchange.caller, undefined)
      }
      const lines = prove(token)
      t.match((await call(lines)).exchange.caller, { kind: 'token', token: { client_id: 'app' } })
      t.match((await call(lines)).outcome, { status: 401 }, 'the same proof again')
    }
  },
)

t.test('the token decides the scheme it may be sent in (RFC 9449 section 4.3; checklist 91)', async t => {
  const { call, newToken, prove, token } = await start(t, { dpop: { nonce: 'optional' } })
  const bound = await newToken()
  const { body } = await token({ grant_type: 'client_credentials' }, { as: 'app' })
  const plain = String(body.access_token)
  const [, , ...proof] = prove(bound)
  const invalid = /error="invalid_token"/

  const asBearer = await call(['Authorization', `Bearer ${bound}`, ...proof])
  t.match(asBearer.outcome, { status: 401 })
  t.match(fieldOf(asBearer.outcome, 'www-authenticate'), [invalid, /^DPoP realm="sidegate", algs=/])
  const asDpop = await call(prove(plain))
  t.match(asDpop.outcome, { status: 401 })
  t.match(fieldOf(asDpop.outcome, 'www-authenticate'), [invalid, /^Bearer realm="sidegate"$/])
  t.match((await call(['Authorization', `Bearer ${plain}`, ...proof])).exchange.caller, { kind: 'token' })
})

t.test(
  'the scheme has no case, and what is malformed in it is 400 (RFC 6750 section 3, RFC 9700 section 4.3.2; checklist 86, 87)',
  async t => {
    const { call, newToken, prove } = await start(t, { dpop: { nonce: 'optional' } })
    const token = await newToken()
    const [, , ...proof] = prove(token)

    t.match((await call(['authorization', `dpop ${token}`, ...proof])).exchange.caller, { kind: 'token' })
    for (const line of ['DPoP', 'DPoP ', `DPoP ${token} x`]) {
      const { outcome } = await call(['Authorization', line, ...proof])
      t.match(outcome, { status: 400 }, line)
      t.match(fieldOf(outcome, 'www-authenticate'), [/^DPoP .*error="invalid_request"/], line)
    }
    t.match((await call(['Authorization', 'DPoP nothing', ...proof])).outcome, { status: 401 })
    t.match((await call(['Authorization', `DPoPx ${token}`, ...proof])).outcome, { status: 401 })
  },
)

t.test('a proof is consumed after the plan: a proof that the plan refuses may be sent again', async t => {
  const { call, newToken, prove, proveOnly } = await start(t, { dpop: { nonce: 'optional' } })
  const lines = prove(await newToken())

  for (let times = 0; times < 3; times++) {
    t.match((await call(lines, proveOnly)).exchange.caller, { kind: 'token', pendingReplayChecks: [{ id: String }] })
  }
  t.equal((await call(lines)).outcome, undefined, 'admitted')
  t.match((await call(lines)).outcome, { status: 401, body: /"DPOP_PROOF_INVALID"/ })
})

t.test('bad proofs are counted by address as bad tokens are; proofs without a nonce are not counted', async t => {
  const { call, newToken, prove } = await start(t)
  const token = await newToken()
  const [nonce] = fieldOf((await call(prove(token))).outcome, 'dpop-nonce')
  const bad = () => call(prove(token, nonce, { claims: { htm: 'POST' } }))

  for (let times = 0; times < 120; times++)
    t.match((await call(prove(token))).outcome, { body: /"DPOP_PROOF_INVALID"/ })
  for (let times = 0; times < 100; times++) t.match((await bad()).outcome, { body: /"DPOP_PROOF_INVALID"/ })
  const { outcome } = await bad()
  t.match(outcome, { status: 429, body: /"TOO_MANY_FAILURES"/ })
  t.match(fieldOf(outcome, 'retry-after'), ['60'])
  t.equal((await call(prove(token, nonce))).outcome, undefined, 'good proofs are never refused')
})

t.test('a key other than that of the token is refused before its signature is verified', async t => {
  const { call, newToken, prove } = await start(t, { dpop: { nonce: 'optional' } })
  const token = await newToken()
  const thief = newKey('ES256')
  const descriptionOf = async (lines: readonly string[]) =>
    fieldOf((await call(lines)).outcome, 'www-authenticate')[0]?.match(/error_description="([^"]+)"/)?.[1]

  t.match(await descriptionOf(prove(token, undefined, {}, thief)), /bound to another key/)
  const unsigned = prove(token, undefined, { header: { jwk: bareJwk(thief) } })
  t.match(await descriptionOf(unsigned), /bound to another key/, 'though the signature is not right either')
  t.match(await descriptionOf(prove(token, undefined, { header: { jwk: bareJwk(key) } }, thief)), /signature/)
})
