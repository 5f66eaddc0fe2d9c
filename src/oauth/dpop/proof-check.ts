import { createHash } from 'node:crypto'
import { OAuthError } from '../../errors.ts'
import type { OAuthDeps } from '../deps.ts'
import { createNonces } from './nonces.ts'
import { clockSkewSec, invalidProof, type Proof, type ProvenRequest, proofLifetimeSec, verifyProof } from './proof.ts'

/** A key whose holder sent this request. */
export interface ProvenKey {
  /** RFC 7638 thumbprint. */
  readonly jkt: string
  /** Goes out with the answer, whatever it is: a fresh `DPoP-Nonce` where the client needs one, else nothing. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Proves who holds a DPoP key, once: the proof itself, its nonce, and that it was never seen before by any process.
 * @throws OAuthError invalid_dpop_proof, or use_dpop_nonce with the nonce to use; StoreUnavailableError
 */
export type ProofCheck = (request: ProvenRequest) => Promise<ProvenKey>

/** The store is asked last, and only about a proof with which all else is right. */
export const createProofCheck = ({ options, store, keys, clock }: OAuthDeps): ProofCheck => {
  const { origin } = new URL(options.issuer)
  const nonces = createNonces(keys, clock)
  const freshNonce = (): Readonly<Record<string, string>> => ({ 'dpop-nonce': nonces.current() })

  /** What to send along with the answer. A nonce that nobody asked for must be good too. */
  const checkNonce = (nonce: string | undefined): Readonly<Record<string, string>> => {
    if (nonce === undefined && options.dpop.nonce === 'optional') return {}
    const verdict = nonce === undefined ? 'stale' : nonces.judge(nonce)
    if (verdict === 'stale') {
      throw new OAuthError('use_dpop_nonce', 'The DPoP proof needs the nonce of the DPoP-Nonce header', {
        headers: freshNonce(),
      })
    }
    return verdict === 'aging' ? freshNonce() : {}
  }
  const spend = async ({ jkt, jti, iatSec }: Proof): Promise<void> => {
    // A process whose clock is behind takes the proof for that much longer.
    const untilMs = (iatSec + proofLifetimeSec + clockSkewSec) * 1000
    const id = `dpop:${jkt}:${createHash('sha256').update(jti).digest('base64url')}`
    if (!(await store.replays.spend([{ id, untilMs }]))[0]) throw invalidProof('The DPoP proof was used before')
  }

  return async request => {
    const proof = await verifyProof(request, origin, clock.nowMs())
    const headers = checkNonce(proof.nonce)
    await spend(proof)
    return { jkt: proof.jkt, headers }
  }
}
