import { calculateJwkThumbprint } from 'jose'
import t from 'tap'
import { createProofCheck } from '../../../src/oauth/sender-constraint/dpop-proof-check.ts'
import { provePushedKey } from '../../../src/oauth/sender-constraint/par-binding.ts'
import { bareJwk, newKey } from '../fapi/support/jws.ts'
import { emptyRequest, issuer, startServer } from '../support/authorization-server.ts'
import { newProof } from '../support/proofs.ts'

const key = newKey('ES256')
const other = 'A'.repeat(43)

t.test(
  'the key of a pushed request comes from its proof, from dpop_jkt, or from both (RFC 9449 section 10.1)',
  async t => {
    const { deps, clock } = await startServer(t, { dpop: { nonce: 'optional' } })
    const jkt = await calculateJwkThumbprint(bareJwk(key))
    const check = createProofCheck(deps)
    const push = async (dpop_jkt: string | undefined, isProven: boolean) => {
      const proof = newProof(key, { uri: `${issuer}/par`, nowMs: clock.nowMs() })
      return provePushedKey(check, { ...emptyRequest, path: '/par', dpop: isProven ? [proof] : [] }, dpop_jkt)
    }

    t.same(await push(undefined, false), { headers: {}, pendingReplayChecks: [] }, 'without a binding')
    t.match(await push(undefined, true), { jkt })
    t.match(await push(jkt, true), { jkt })
    t.match(await push(other, false), { jkt: other })
    await t.rejects(push(other, true), { code: 'invalid_request' }, 'two keys')
    await t.rejects(push('short', false), { code: 'invalid_request' })
    await t.rejects(push(`${jkt}=`, true), { code: 'invalid_request' })
  },
)

t.test('a wrong proof is refused there too (RFC 9449 section 10.1)', async t => {
  const { deps, clock } = await startServer(t)
  const check = createProofCheck(deps)
  const push = async (uri: string) =>
    provePushedKey(
      check,
      { ...emptyRequest, path: '/par', dpop: [newProof(key, { uri, nowMs: clock.nowMs() })] },
      undefined,
    )

  await t.rejects(push(`${issuer}/token`), { code: 'invalid_dpop_proof' })
  await t.rejects(push(`${issuer}/par`), { code: 'use_dpop_nonce', headers: { 'dpop-nonce': String } })
})
