import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { JWK } from 'jose'

/** A JWS that is built by hand, so that a test can change any of its parts. */

export type TestAlg = 'ES256' | 'PS256' | 'RS256' | 'EdDSA'

export interface TestKey {
  readonly alg: TestAlg
  readonly kid: string
  readonly privateKey: KeyObject
  /** With `kid` and `alg`, as in a client's registration. */
  readonly publicJwk: JWK
}

export const newKey = (alg: TestAlg = 'ES256', kid = `${alg}-key`): TestKey => {
  const { publicKey, privateKey } = generate(alg)
  return { alg, kid, privateKey, publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } }
}

/** The public key alone, as a DPoP proof carries it. */
export const bareJwk = ({ publicJwk: { kid: _kid, alg: _alg, use: _use, ...jwk } }: TestKey): JWK => jwk

const generate = (alg: TestAlg) => {
  switch (alg) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'EdDSA':
      return generateKeyPairSync('ed25519')
    default:
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
  }
}

export type Members = Readonly<Record<string, unknown>>

/** Signed with `key.alg`, whatever the header has. Undefined members are left out. */
export const signJws = (header: Members, claims: Members, key: TestKey): string => {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${signatureOf(signed, key).toString('base64url')}`
}

/** `alg: none`, and no signature. */
export const unsignedJws = (header: Members, claims: Members): string =>
  `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`

const encode = (members: Members): string => Buffer.from(JSON.stringify(members)).toString('base64url')

const signatureOf = (signed: string, { alg, privateKey }: TestKey): Buffer => {
  const bytes = Buffer.from(signed)
  switch (alg) {
    case 'ES256':
      return sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    case 'PS256':
      return sign('sha256', bytes, { key: privateKey, padding: 6, saltLength: 32 }) // RSA_PKCS1_PSS_PADDING
    case 'RS256':
      return sign('sha256', bytes, privateKey)
    case 'EdDSA':
      return sign(null, bytes, privateKey)
  }
}
