import { createHash, randomUUID } from 'node:crypto'
import { bareJwk, type Members, signJws, type TestKey } from '../fapi/support/jws.ts'

/** The request of a DPoP proof. */
export interface Proven {
  readonly method?: string
  readonly uri: string
  readonly nowMs: number
  readonly nonce?: string | undefined
  readonly token?: string
}

/** The differences of a proof from the right one; undefined removes a member. */
export interface ProofTwist {
  readonly header?: Members
  readonly claims?: Members
}

/** A DPoP proof (RFC 9449 section 4.2) by this key. */
export const newProof = (key: TestKey, proven: Proven, { header, claims }: ProofTwist = {}): string =>
  signJws(
    { typ: 'dpop+jwt', alg: key.alg, jwk: bareJwk(key), ...header },
    {
      jti: randomUUID(),
      htm: proven.method ?? 'POST',
      htu: proven.uri,
      iat: Math.floor(proven.nowMs / 1000),
      nonce: proven.nonce,
      ath: proven.token && createHash('sha256').update(proven.token).digest('base64url'),
      ...claims,
    },
    key,
  )
