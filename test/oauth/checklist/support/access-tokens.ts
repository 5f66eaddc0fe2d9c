import { createHmac, createPublicKey, randomUUID } from 'node:crypto'
import { type Members, signJws, type TestKey } from '../../fapi/support/jws.ts'
import type { ProofTwist } from '../../support/proofs.ts'
import { nowSec } from './assertions.ts'

/** Reads JWT access tokens (RFC 9068), and makes them with the gateway's signing key. */

/** The key as the private JWK set of the gateway's configuration (`keys.jwks`). */
export const signingJwks = ({ privateKey, kid, alg }: TestKey): string =>
  JSON.stringify({ keys: [{ ...privateKey.export({ format: 'jwk' }), kid, alg }] })

/** A token of the client `app` for all APIs of the issuer, with these changed members; undefined removes one. */
export const signAccessToken = (key: TestKey, issuer: string, { header, claims }: ProofTwist = {}): string =>
  signJws({ alg: key.alg, typ: 'at+jwt', kid: key.kid, ...header }, { ...claimsFrom(issuer), ...claims }, key)

/** Such a token, signed with the gateway's public key as if that were a shared secret. */
export const hmacWithPublicKey = (key: TestKey, issuer: string): string => {
  const [, claims] = signAccessToken(key, issuer).split('.')
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid: key.kid })).toString('base64url')
  const pem = createPublicKey({ key: key.publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  return `${header}.${claims}.${createHmac('sha256', pem).update(`${header}.${claims}`).digest('base64url')}`
}

const claimsFrom = (iss: string): Members => {
  const whole = { iss, aud: iss, sub: 'app', client_id: 'app', scope: 'read write' }
  return { ...whole, iat: nowSec(), nbf: nowSec(), exp: nowSec() + 600, jti: randomUUID() }
}

export const headerOf = (jwt: unknown): Members => partOf(jwt, 0)

export const claimsOf = (jwt: unknown): Members => partOf(jwt, 1)

const partOf = (jwt: unknown, index: number): Members =>
  JSON.parse(Buffer.from(String(jwt).split('.')[index] ?? '', 'base64url').toString())

/** The same text with one changed character, counted from the end. */
export const oneCharacterOff = (text: string, fromEnd = 10): string => {
  const at = text.length - fromEnd
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}
