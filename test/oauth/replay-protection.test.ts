import t, { type Test } from 'tap'
import type { ClientRegistration } from '../../src/oauth/clients/metadata.ts'
import { createReplayProtection, type SingleUse } from '../../src/oauth/replay-protection.ts'
import { createMemoryStore } from '../../src/stores/memory.ts'
import { newKey } from './fapi/support/jws.ts'
import {
  type Answer,
  answer,
  client,
  createManualClock,
  formRequest,
  issuer,
  publicClient,
  type Sent,
  startServer,
  verifier,
} from './support/authorization-server.ts'
import { assertionClaims, assertionFields, createClientKey, registered } from './support/client-keys.ts'
import { newProof } from './support/proofs.ts'

type Fields = Readonly<Record<string, string>>

const formats = ['jwt', 'opaque'] as const
const clientKey = await createClientKey('ES256')
const invalidClient = { status: 401, body: { error: 'invalid_client' } }
const invalidProof = { status: 400, body: { error: 'invalid_dpop_proof' } }
const invalidGrant = { status: 400, body: { error: 'invalid_grant' } }

const signing = (client_id: string): ClientRegistration =>
  client(client_id, { token_endpoint_auth_method: 'private_key_jwt', secrets: [], keys: registered(clientKey) })

/** A server with `signer`, which signs assertions, `app` and the public `spa`; no proof needs a nonce. */
const start = async (t: Test, format: (typeof formats)[number] = 'jwt') => {
  const server = await startServer(t, {
    clients: [signing('signer'), client('app', { introspects: 'all' }), publicClient('spa')],
    accessToken: { format, lifetimeSec: 600, alg: 'ES256' },
    dpop: { nonce: 'optional' },
  })
  const dpopKey = newKey('ES256')
  const push = (fields: Fields, sent: Sent): Promise<Answer> =>
    answer(async () => {
      const request = formRequest(fields, sent)
      const form = server.server.parseForm(request)
      return server.server.par(form, await server.server.authenticate(form, request), request)
    })
  return {
    ...server,
    push,
    /** The parameters that authenticate `signer`, new each time. */
    assert: async () => assertionFields(await clientKey.sign(assertionClaims('signer', issuer, server.clock.nowMs()))),
    /** The part of a token request that proves its key, new each time. */
    prove: () => ({ dpop: [newProof(dpopKey, { uri: `${issuer}/token`, nowMs: server.clock.nowMs() })] }),
    isActive: async (token: unknown) => (await server.introspect({ token: String(token) }, { as: 'app' })).body.active,
  }
}

const redemptionOf = (code: string): Fields => ({ grant_type: 'authorization_code', code, code_verifier: verifier })
const refreshOf = (token: unknown): Fields => ({ grant_type: 'refresh_token', refresh_token: String(token) })
const machine = { grant_type: 'client_credentials' }

for (const format of formats) {
  t.test(
    `a code that is sent again with the same assertion revokes nothing, and with a new one it does (${format})`,
    async t => {
      const { token, makeCode, assert, isActive } = await start(t, format)
      const redemption = redemptionOf(await makeCode('signer'))
      const once = await assert()
      const { body } = await token({ ...redemption, ...once }, {})

      t.match(await token({ ...redemption, ...once }, {}), invalidClient)
      t.equal(await isActive(body.access_token), true)

      t.match(await token({ ...redemption, ...(await assert()) }, {}), invalidGrant)
      t.equal(await isActive(body.access_token), false)
    },
  )

  t.test(
    `a code that is sent again with the same DPoP proof revokes nothing, and with a new one it does (${format})`,
    async t => {
      const { token, makeCode, prove, isActive } = await start(t, format)
      const redemption = redemptionOf(await makeCode('app'))
      const request = prove()
      const { body } = await token(redemption, { as: 'app', request })

      t.match(await token(redemption, { as: 'app', request }), invalidProof)
      t.equal(await isActive(body.access_token), true)

      t.match(await token(redemption, { as: 'app', request: prove() }), invalidGrant)
      t.equal(await isActive(body.access_token), false)
    },
  )

  t.test(`a replaced refresh token with a used proof revokes nothing, with a new one it does (${format})`, async t => {
    const { token, makeCode, prove, isActive, clock } = await start(t, format)
    const as = { client_id: 'spa' }
    const first = await token({ ...redemptionOf(await makeCode('spa')), ...as }, { request: prove() })
    const request = prove()
    const refresh = { ...refreshOf(first.body.refresh_token), ...as }
    const second = await token(refresh, { request })
    clock.advanceSec(11)

    t.match(await token(refresh, { request }), invalidProof)
    t.equal(await isActive(second.body.access_token), true)

    t.match(await token(refresh, { request: prove() }), invalidGrant)
    t.equal(await isActive(second.body.access_token), false)
  })

  t.test(`a rotation with a used proof gets nothing, and the client still gets its successor (${format})`, async t => {
    const { token, makeCode, prove } = await start(t, format)
    const as = { client_id: 'spa' }
    const request = prove()
    const first = await token({ ...redemptionOf(await makeCode('spa')), ...as }, { request })
    const refresh = { ...refreshOf(first.body.refresh_token), ...as }

    const replayed = await token(refresh, { request })

    t.match(replayed, invalidProof)
    t.same(Object.keys(replayed.body), ['error', 'error_description'])
    const second = await token(refresh, { request: prove() })
    t.match(second, { status: 200, body: { refresh_token: String } })
    t.match(await token({ ...refreshOf(second.body.refresh_token), ...as }, { request: prove() }), { status: 200 })
  })

  t.test(`an assertion and a proof yield one token, whichever of the two is used again (${format})`, async t => {
    const { token, assert, prove } = await start(t, format)
    const [fields, request] = [await assert(), prove()]
    t.match(await token({ ...machine, ...fields }, { request }), { status: 200 })

    t.match(await token({ ...machine, ...fields }, { request: prove() }), invalidClient)
    t.match(await token({ ...machine, ...(await assert()) }, { request }), invalidProof)
    t.match(
      await token({ ...machine, ...fields }, { request }),
      invalidClient,
      'the client authentication is checked before the proof',
    )
    t.match(await token({ ...machine, ...(await assert()) }, { request: prove() }), { status: 200 })
  })

  t.test(`introspection with a used assertion returns no fact about the token (${format})`, async t => {
    const { token, introspect, assert } = await start(t, format)
    const fields = await assert()
    const { body } = await token({ ...machine, ...fields }, {})
    const ask = async (text: unknown, proof: Fields) => introspect({ token: String(text), ...proof }, {})

    const known = await ask(body.access_token, fields)

    t.match(known, invalidClient)
    t.same(await ask('unknown', fields), known)
    t.match(await ask(body.access_token, await assert()), { status: 200, body: { active: true } })
  })

  t.test(`revocation with a used assertion revokes nothing (${format})`, async t => {
    const { token, revoke, assert, isActive } = await start(t, format)
    const fields = await assert()
    const { body } = await token({ ...machine, ...fields }, {})
    const text = String(body.access_token)

    t.match(await revoke({ token: text, ...fields }, {}), invalidClient)
    t.equal(await isActive(text), true)

    t.match(await revoke({ token: text, ...(await assert()) }, {}), { status: 200 })
    t.equal(await isActive(text), false)
  })
}

t.test('the assertion of a refused request is used up too (RFC 7523 section 3; checklist 22)', async t => {
  const { token, introspect, revoke, push, assert, clock } = await start(t)
  const refused: readonly ((fields: Fields) => Promise<Answer>)[] = [
    fields => token({ ...machine, scope: 'nothing', ...fields }, {}),
    fields => token({ grant_type: 'password', ...fields }, {}),
    fields => token({ ...redemptionOf('none'), ...fields }, {}),
    fields => token({ ...machine, ...fields }, { request: { dpop: ['none'] } }),
    fields => introspect(fields, {}),
    fields => revoke(fields, {}),
    fields => push({ response_type: 'token', ...fields }, {}),
  ]
  for (const send of refused) {
    const fields = await assert()
    const { body } = await send(fields)
    t.equal((await send(fields)).body.error, 'invalid_client', 'this error comes before all others')
    t.not(body.error, 'invalid_client')
    t.match(await token({ ...machine, ...fields }, {}), invalidClient)
    clock.advanceSec(60) // else so many failures would be rate limited
  }
})

t.test('a pushed request with a used assertion gets no request_uri', async t => {
  const { push, assert } = await start(t)
  const request = {
    response_type: 'code',
    client_id: 'signer',
    redirect_uri: 'https://signer.example/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }
  const fields = await assert()
  t.match(await push({ ...request, ...fields }, {}), { status: 201 })

  const replayed = await push({ ...request, ...fields }, {})

  t.match(replayed, invalidClient)
  t.notOk('request_uri' in replayed.body)
})

t.test('a request without an assertion or a proof does not wait', async t => {
  const { answer: answerOnce } = createReplayProtection(createMemoryStore(createManualClock()).replays)

  t.equal(
    answerOnce([], ask => ask(() => 'at once')),
    'at once',
  )
})

t.test(
  'the result or the failure of the store does not count if the assertion or the proof was used before',
  async t => {
    const clock = createManualClock()
    const { answer: answerOnce, consume } = createReplayProtection(createMemoryStore(clock).replays)
    const used = new Error('used before')
    const newUse = (id: string): SingleUse => ({
      id,
      untilMs: clock.nowMs() + 1000,
      refuse: () => {
        throw used
      },
    })
    const failure = new Error('the store is gone')
    const fail = () => Promise.reject(failure)
    await consume([newUse('one')])

    const failing = async (id: string) => answerOnce([newUse(id)], ask => ask(fail))
    const finding = async (...uses: readonly string[]) => {
      const [first = '', ...more] = uses
      return answerOnce([newUse(first)], ask => ask(() => 'found', more.map(newUse)))
    }

    await t.rejects(failing('one'), used)
    await t.rejects(failing('two'), failure)
    await t.rejects(finding('two'), used, 'used up, though the lookup failed')
    await t.rejects(finding('three', 'two'), used)
    t.equal(await finding('four', 'five'), 'found')
  },
)
