import { type KeyObject, verify } from 'node:crypto'
import { decodeBase64url, decodeJsonObject, type JsonObject } from '../base64url.ts'
import { isSigningAlg, jwsAlgorithms } from '../jws-algorithms.ts'
import type { SigningAlg } from '../protocol.ts'

/** A parsed compact JWS of another party (RFC 7515 section 3.1). Its signature has not been verified. */
export interface CompactJws {
  readonly alg: SigningAlg
  readonly header: JsonObject
  readonly payload: JsonObject
  /** The bytes that the signature covers. */
  readonly signed: Buffer
  readonly signature: Buffer
}

/**
 * Parses a compact JWS whose payload is a JSON object. Returns a fault for a malformed text, for an algorithm that
 * Sidegate does not use (`none`, the symmetric ones), and for a `crit` header, because no extension is implemented
 * (RFC 7515 section 4.1.11). Keys in the header (`jwk`, `jku`, `x5c`, `x5u`) come from the sender and are ignored
 * here.
 */
export const parseJws = (text: string): CompactJws | { readonly fault: 'malformed' | 'alg' } => {
  const [encodedHeader = '', encodedPayload = '', encodedSignature = '', ...rest] = text.split('.')
  const header = decodeJsonObject(encodedHeader)
  const payload = decodeJsonObject(encodedPayload)
  const signature = decodeBase64url(encodedSignature)
  if (!header || !payload || !signature || rest.length > 0 || 'crit' in header) return { fault: 'malformed' }
  const { alg } = header
  if (!isSigningAlg(alg)) return { fault: 'alg' }
  return { alg, header, payload, signature, signed: Buffer.from(`${encodedHeader}.${encodedPayload}`) }
}

/** Whether this key made the signature. The caller has checked that the key is one for the algorithm. */
export const isSignedBy = ({ alg, signed, signature }: CompactJws, key: KeyObject): boolean => {
  const { digest, options } = jwsAlgorithms[alg]
  return verify(digest, signed, { key, ...options }, signature)
}
