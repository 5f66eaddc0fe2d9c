import { createHash, randomUUID } from 'node:crypto'
import { bareJwk, type Members, signJws, type TestKey } from '../fapi/support/jws.ts'

/** What a DPoP proof is made for. */
export interface Proven {
  readonly method?: string
  readonly uri: string
  readonly nowMs: number
  readonly nonce?: string | undefined
  readonly token?: string
}

/** How a proof differs from the right one; an undefined member is left out. */
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
