import { sign, verify } from 'node:crypto'
import type { KeyRing, SigningKey } from '../keys/key-ring.ts'

/** Compact JWS with ES256 (RFC 7515 section 3.1, RFC 7518 section 3.4), signed and verified synchronously. */

/** `r || s` as JWS wants it, not the ASN.1 that is node's default. */
const dsaEncoding = 'ieee-p1363'

/** The claims of a JWT that proved genuine; their meaning is the caller's to check. */
export type Claims = Readonly<Record<string, unknown>>

/** What a signer writes as `typ`, so that no JWT of one kind passes for another (RFC 8725 section 3.11). */
export type JwtType = 'at+jwt'

/** Encoded headers by key: they never change, and encoding costs as much as all the claims. */
const headers = new WeakMap<SigningKey, string>()

export const signJwt = (key: SigningKey, typ: JwtType, claims: Claims): string => {
  const signed = `${encodedHeader(key, typ)}.${toBase64url(JSON.stringify(claims))}`
  return `${signed}.${sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding }).toString('base64url')}`
}

/** Whether a text has the three parts of a compact JWS. No opaque token or code has. */
export const hasJwtShape = (token: string): boolean => jwtShape.test(token)

const jwtShape = /^[\w-]+\.[\w-]+\.[\w-]{86}$/

/** The claims, or undefined unless one of our keys signed exactly this text with this `typ` (RFC 8725 section 3). */
export const verifyJwt = (token: string, typ: JwtType, keys: KeyRing): Claims | undefined => {
  if (!hasJwtShape(token)) return undefined
  const [header = '', payload = '', signature = ''] = token.split('.')
  const key = findKey(header, typ, keys)
  if (!key || !isSigned(key, `${header}.${payload}`, signature)) return undefined
  return parseObject(payload)
}

const encodedHeader = (key: SigningKey, typ: JwtType): string => {
  const known = headers.get(key)
  if (known) return known
  const header = toBase64url(JSON.stringify({ alg: key.alg, typ, kid: key.kid }))
  headers.set(key, header)
  return header
}

/** The key its header names. Our own headers hold these three members and nothing else, so neither may a genuine one. */
const findKey = (header: string, typ: JwtType, keys: KeyRing): SigningKey | undefined => {
  const { alg, typ: presentedTyp, kid, ...rest } = parseObject(header) ?? {}
  if (typeof kid !== 'string' || presentedTyp !== typ || Object.keys(rest).length > 0) return undefined
  const key = keys.find(kid)
  return key?.alg === alg ? key : undefined
}

const isSigned = (key: SigningKey, signed: string, signature: string): boolean => {
  const bytes = Buffer.from(signature, 'base64url')
  // 86 characters have four bits to spare: only one spelling of a signature is taken, so a token has one text.
  if (bytes.toString('base64url') !== signature) return false
  return verify('sha256', Buffer.from(signed), { key: key.publicKey, dsaEncoding }, bytes)
}

const parseObject = (part: string): Claims | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
  } catch {
    return undefined
  }
}

const toBase64url = (text: string): string => Buffer.from(text).toString('base64url')
