import { isUtf8 } from 'node:buffer'
import { constants, type KeyObject, verify } from 'node:crypto'
import { type SigningAlg, signingAlgs } from '../protocol.ts'
import { findKeyBoundsFault } from './key-limits.ts'

/** A signed text that somebody else made (RFC 7515 section 3.1), taken apart; nothing of it is proven yet. */
export interface CompactJws {
  readonly alg: SigningAlg
  readonly header: JsonObject
  readonly payload: JsonObject
  /** What the signature is over. */
  readonly signed: Buffer
  readonly signature: Buffer
}

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * Takes a compact JWS apart whose payload is a JSON object. A fault for anything malformed, for an algorithm that is not
 * ours (`none`, the symmetric ones), and for a `crit`: no extension is understood (RFC 7515 section 4.1.11). Keys in the
 * header (`jwk`, `jku`, `x5c`, `x5u`) are whoever sent them's word for themselves: nobody here looks at them.
 */
export const parseJws = (text: string): CompactJws | { readonly fault: 'malformed' | 'alg' } => {
  const [encodedHeader = '', encodedPayload = '', encodedSignature = '', ...rest] = text.split('.')
  const header = parseObject(encodedHeader)
  const payload = parseObject(encodedPayload)
  const signature = decodeBase64url(encodedSignature)
  if (!header || !payload || !signature || rest.length > 0 || 'crit' in header) return { fault: 'malformed' }
  const alg = signingAlgs.find(known => known === header.alg)
  if (alg === undefined) return { fault: 'alg' }
  return { alg, header, payload, signature, signed: Buffer.from(`${encodedHeader}.${encodedPayload}`) }
}

/** Whether this key, which fits the algorithm, made the signature. */
export const isSignedBy = ({ alg, signed, signature }: CompactJws, key: KeyObject): boolean =>
  verifiers[alg](signed, key, signature)

/** Whether a public key is of the algorithm's kind and within bounds (RFC 7518 sections 3.3 to 3.5, RFC 8037 section 3.1). */
export const fitsAlg = (alg: SigningAlg, key: KeyObject): boolean => {
  const { asymmetricKeyType, asymmetricKeyDetails } = key
  switch (alg) {
    case 'ES256':
      return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
    case 'EdDSA':
      return asymmetricKeyType === 'ed25519'
    case 'PS256':
    case 'RS256':
      return asymmetricKeyType === 'rsa' && findKeyBoundsFault(key) === undefined
  }
}

type Verifier = (signed: Buffer, key: KeyObject, signature: Buffer) => boolean

const verifiers: Readonly<Record<SigningAlg, Verifier>> = {
  // `r || s` as JWS wants it, not the ASN.1 that is node's default.
  ES256: (signed, key, signature) => verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature),
  EdDSA: (signed, key, signature) => verify(null, signed, key, signature),
  PS256: (signed, key, signature) => verify('sha256', signed, { key, ...pss }, signature),
  RS256: (signed, key, signature) => verify('sha256', signed, key, signature),
}

/** RFC 7518 section 3.5: the salt is as long as the digest. */
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }

const parseObject = (part: string): JsonObject | undefined => {
  const bytes = decodeBase64url(part)
  if (!bytes || !isUtf8(bytes)) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/** Node skips what it cannot read; a text that does not come back the same was no base64url. */
const decodeBase64url = (part: string): Buffer | undefined => {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}
