import { decodeBase64url, decodeJsonObject } from '../base64url.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { SigningKey } from '../keys/signing-key.ts'

/** Compact JWS (RFC 7515 section 3.1) with the keys of the key ring, signed and verified synchronously. */

/** The claims of a JWT with a valid signature. The caller checks their meaning. */
export type Claims = Readonly<Record<string, unknown>>

/** The `typ` of the JWT, so that a JWT of one type is not accepted as another (RFC 8725 section 3.11). */
export type JwtType = 'at+jwt' | 'token-introspection+jwt' | 'sidegate-assertion+jwt'

/** Encoded headers by key. They never change, and encoding one takes as long as encoding all the claims. */
const headers: Readonly<Record<JwtType, WeakMap<SigningKey, string>>> = {
  'at+jwt': new WeakMap(),
  'token-introspection+jwt': new WeakMap(),
  'sidegate-assertion+jwt': new WeakMap(),
}

export const signJwt = (key: SigningKey, typ: JwtType, claims: Claims): string => {
  const signed = `${encodedHeader(key, typ)}.${toBase64url(JSON.stringify(claims))}`
  return `${signed}.${key.sign(signed).toString('base64url')}`
}

/** Whether a text has the three parts of a compact JWS. Opaque tokens and codes do not. */
export const hasJwtShape = (token: string): boolean => jwtShape.test(token)

/** The shortest signatures, of ES256 and EdDSA, have 86 characters; an RSA signature is as long as its key. */
const jwtShape = /^[\w-]+\.[\w-]+\.[\w-]{86,}$/

/**
 * The claims, or undefined unless one of our keys signed exactly this text with this `typ` (RFC 8725 section 3).
 * Returns a promise only if this process does not know the key yet.
 */
export const verifyJwt = (token: string, typ: JwtType, keys: KeyRing): MaybePromise<Claims | undefined> => {
  if (!hasJwtShape(token)) return undefined
  const [header = '', payload = '', signature = ''] = token.split('.')
  const named = parseHeader(header, typ)
  if (!named) return undefined
  return mapMaybe(keys.find(named.kid), key =>
    key && key.alg === named.alg && isSigned(key, `${header}.${payload}`, signature)
      ? decodeJsonObject(payload)
      : undefined,
  )
}

const encodedHeader = (key: SigningKey, typ: JwtType): string => {
  const known = headers[typ].get(key)
  if (known) return known
  const header = toBase64url(JSON.stringify({ alg: key.alg, typ, kid: key.kid }))
  headers[typ].set(key, header)
  return header
}

/** Our own headers have these three members and no others, so a header with another member is refused. */
const parseHeader = (header: string, typ: JwtType): { readonly alg: unknown; readonly kid: string } | undefined => {
  const { alg, typ: presentedTyp, kid, ...rest } = decodeJsonObject(header) ?? {}
  if (typeof kid !== 'string' || presentedTyp !== typ || Object.keys(rest).length > 0) return undefined
  return { alg, kid }
}

const isSigned = (key: SigningKey, signed: string, signature: string): boolean => {
  // The last character has unused bits. Only one spelling of a signature is accepted, so that a token has one text.
  const bytes = decodeBase64url(signature)
  return bytes !== undefined && key.verify(signed, bytes)
}

const toBase64url = (text: string): string => Buffer.from(text).toString('base64url')
