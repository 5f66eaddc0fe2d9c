import { createHmac, createPublicKey, randomUUID } from 'node:crypto'
import { type Members, newKey, signJws, type TestKey } from '../../fapi/support/jws.ts'

/** Assertions of the client `jwt` (RFC 7523 section 3), right and wrong. */

/** Its key, and one more that it has registered, of another algorithm. */
export const key = newKey('ES256', 'registered')
export const otherKey = newKey('PS256', 'registered-too')

export const nowSec = (): number => Math.floor(Date.now() / 1000)

/** A valid assertion with these changed members; undefined removes one. */
export const assert = (issuer: string, claims: Members = {}, header: Members = {}, by: TestKey = key): string =>
  signJws({ alg: by.alg, kid: by.kid, ...header }, assertionClaims(issuer, claims), by)

export const assertionClaims = (issuer: string, claims: Members = {}): Members => {
  const whole = { iss: 'jwt', sub: 'jwt', aud: issuer, jti: randomUUID(), iat: nowSec(), exp: nowSec() + 60 }
  return { ...whole, ...claims }
}

/** Signed with its public key as if that were a shared secret. */
export const hmacWithPublicKey = (issuer: string): string => {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode({ alg: 'HS256', kid: key.kid })}.${encode(assertionClaims(issuer))}`
  const pem = createPublicKey({ key: key.publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  return `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`
}
