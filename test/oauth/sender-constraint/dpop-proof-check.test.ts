import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bareJwk, newKey, type TestKey } from '../fapi/support/jws.ts'
import { type Answer, issuer, startServer, type TestServer } from '../support/authorization-server.ts'
import { newProof, type ProofTwist } from '../support/proofs.ts'

const uri = `${issuer}/token`
const key = newKey('ES256')
const required = { dpop: { nonce: 'required' } } as const
const optional = { dpop: { nonce: 'optional' } } as const

const proofFor = ({ clock }: TestServer, nonce?: string, twist: ProofTwist = {}, signer: TestKey = key): string =>
  newProof(signer, { uri, nowMs: clock.nowMs(), nonce }, twist)

const ask = ({ token }: TestServer, ...dpop: readonly string[]): Promise<Answer> =>
  token({ grant_type: 'client_credentials' }, { as: 'app', request: { dpop } })

/** The nonce in the response to a proof without one. */
const askNonce = async (server: TestServer): Promise<string> =>
  String((await ask(server, proofFor(server))).headers['dpop-nonce'])

const asksForNonce = { status: 400, headers: { 'dpop-nonce': /^[\w-]{43}$/ }, body: { error: 'use_dpop_nonce' } }
const invalid = { status: 400, body: { error: 'invalid_dpop_proof' } }

t.test(
  'a proof without a nonce gets one in the response, and is accepted with it (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const server = await startServer(t, required)
    const jti = randomUUID()

    const first = await ask(server, proofFor(server, undefined, { claims: { jti } }))

    t.match(first, asksForNonce)
    const nonce = String(first.headers['dpop-nonce'])
    const second = await ask(server, proofFor(server, nonce, { claims: { jti } }))
    t.match(second, { status: 200, body: { token_type: 'DPoP' } }, 'a request for a nonce uses nothing up')
    t.notOk('dpop-nonce' in second.headers, 'the nonce is valid for more proofs')
    t.match(await ask(server, proofFor(server, `${nonce.slice(0, -1)}_`)), asksForNonce)
    t.match(await ask(server, proofFor(server, `${nonce}A`)), asksForNonce)
  },
)

t.test('a nonce is requested before the signature is checked (RFC 9449 section 4.3; checklist 91)', async t => {
  const server = await startServer(t, required)
  const unsigned = { header: { jwk: bareJwk(newKey('ES256')) } }

  t.match(await ask(server, proofFor(server, undefined, unsigned)), asksForNonce)
  t.match(await ask(server, proofFor(server, await askNonce(server), unsigned)), invalid)
})

t.test(
  'a nonce expires, and the client gets the next one before that (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const server = await startServer(t, required)
    const nonce = await askNonce(server)

    server.clock.advanceSec(149)
    t.notOk('dpop-nonce' in (await ask(server, proofFor(server, nonce))).headers)
    server.clock.advanceSec(150)
    const aging = await ask(server, proofFor(server, nonce))
    t.match(aging, { status: 200, headers: { 'dpop-nonce': /^[\w-]{43}$/ } })
    server.clock.advanceSec(1)
    t.match(await ask(server, proofFor(server, nonce)), asksForNonce)
    t.match(await ask(server, proofFor(server, String(aging.headers['dpop-nonce']))), { status: 200 })
  },
)

t.test(
  'a nonce is valid in every process that shares the store, and in no other (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const server = await startServer(t, required)
    const nonce = await askNonce(server)
    const sister = await startServer(t, required, server.clock, server.deps.store)
    const stranger = await startServer(t, required, server.clock)

    t.match(await ask(sister, proofFor(sister, nonce)), { status: 200 })
    t.match(await ask(stranger, proofFor(stranger, nonce)), asksForNonce)
  },
)

t.test(
  'if nonces are optional none is requested, and a wrong one is still refused (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const server = await startServer(t, optional)

    t.match(await ask(server, proofFor(server)), { status: 200 })
    t.match(await ask(server, proofFor(server, 'made-up')), asksForNonce)
  },
)

t.test('a proof is accepted once, whichever process it is sent to (RFC 9449 section 4.3; checklist 91)', async t => {
  const server = await startServer(t, optional)
  const sister = await startServer(t, optional, server.clock, server.deps.store)
  const claims = { jti: randomUUID() }
  const proof = proofFor(server, undefined, { claims })
  t.match(await ask(server, proof), { status: 200 })

  t.match(await ask(server, proof), invalid)
  t.match(await ask(sister, proof), invalid)
  t.match(await ask(server, proofFor(server, undefined, { claims })), invalid, 'another proof with its jti')
  t.match(await ask(server, proofFor(server, undefined, { claims }, newKey('ES256'))), { status: 200 }, 'another key')
})

t.test('a proof stays used up for as long as it could be accepted (RFC 9449 section 4.3; checklist 91)', async t => {
  const server = await startServer(t, optional)
  const iat = server.clock.nowMs() / 1000 + 10
  const proof = proofFor(server, undefined, { claims: { iat } })
  t.match(await ask(server, proof), { status: 200 })

  server.clock.advanceSec(69)
  t.match(await ask(server, proof), { ...invalid, body: { error_description: /used before/ } })
  server.clock.advanceSec(1)
  t.match(await ask(server, proof), { ...invalid, body: { error_description: /too far from now/ } })
})

t.test('of 20 parallel requests with one proof exactly one succeeds (RFC 9449 section 4.3; checklist 91)', async t => {
  const server = await startServer(t, optional)
  const proof = proofFor(server)

  const replies = await Promise.all(Array.from({ length: 20 }, () => ask(server, proof)))

  t.equal(replies.filter(({ status }) => status === 200).length, 1)
  t.equal(replies.filter(({ body }) => body.error === 'invalid_dpop_proof').length, 19)
})

t.test(
  'a proof is for the issuer and the requested path, and a refusal repeats no part of it (RFC 9449 section 4.3; checklist 91)',
  async t => {
    const server = await startServer(t, optional)
    const alias = (dpop: string) =>
      server.token(
        { grant_type: 'client_credentials' },
        { as: 'app', request: { dpop: [dpop], path: '/v1/oauth2/token' } },
      )

    t.match(await alias(proofFor(server)), invalid)
    t.match(await alias(proofFor(server, undefined, { claims: { htu: `${issuer}/v1/oauth2/token` } })), { status: 200 })
    const { body } = await ask(server, proofFor(server, undefined, { claims: { htu: 'https://other.example/token' } }))
    t.match(body, { error: 'invalid_dpop_proof' })
    t.notMatch(JSON.stringify(body), 'other.example')
  },
)
