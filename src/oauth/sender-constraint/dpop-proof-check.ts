import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { OAuthError } from '../../errors.ts'
import { clockSpreadMs } from '../../stores/ports/clock-spread.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { OAuthOptions } from '../options.ts'
import type { SingleUse } from '../replay-protection.ts'
import { createNonces } from './dpop-nonces.ts'
import {
  clockSkewSec,
  invalidProof,
  type Proof,
  type ProvenRequest,
  proofLifetimeSec,
  readProof,
  requireSignature,
} from './dpop-proof.ts'

/** A key that the sender of this request holds. */
export interface ProvenKey {
  /** RFC 7638 thumbprint. */
  readonly jkt: string
  /** Headers of any response to the request: a new `DPoP-Nonce` if the client needs one, else none. */
  readonly headers: Readonly<Record<string, string>>
  /** The replay check that must pass before the server grants anything for the proof. */
  readonly use: SingleUse
}

/**
 * Checks a DPoP proof and its nonce. The signature is checked last, because that takes the most time. The caller must
 * run the replay check.
 * @throws OAuthError invalid_dpop_proof, or use_dpop_nonce with the nonce to use
 */
export type ProofCheck = (request: ProvenRequest) => ProvenKey

export interface ProofCheckDeps {
  readonly options: Pick<OAuthOptions, 'issuer' | 'dpop'>
  readonly keys: Pick<KeyRing, 'digest'>
  readonly clock: Clock
}

export const createProofCheck = ({ options, keys, clock }: ProofCheckDeps): ProofCheck => {
  const { origin } = new URL(options.issuer)
  const nonces = createNonces(keys, clock)
  const freshNonce = (): Readonly<Record<string, string>> => ({ 'dpop-nonce': nonces.current() })

  /** The headers of the response. A nonce must be valid even if the server does not require one. */
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

  return request => {
    const proof = readProof(request, origin, clock.nowMs())
    const headers = checkNonce(proof.nonce)
    requireSignature(proof)
    return { jkt: proof.jkt, headers, use: toUse(proof) }
  }
}

const toUse = ({ jkt, jti, iatSec }: Pick<Proof, 'jkt' | 'jti' | 'iatSec'>): SingleUse => ({
  id: `dpop:${jkt}:${createHash('sha256').update(jti).digest('base64url')}`,
  // A process whose clock is behind accepts the proof for that much longer.
  untilMs: (iatSec + proofLifetimeSec + clockSkewSec) * 1000 + clockSpreadMs,
  refuse: () => {
    throw invalidProof('The DPoP proof was used before, or is too old by the clock of the store')
  },
})
