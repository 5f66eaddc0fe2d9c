import { generateKeyPairSync, type KeyObject } from 'node:crypto'

type Jwk = Readonly<Record<string, unknown>>

/** A new private JWK with its signing algorithm in `alg`. */
export const privateJwk = (alg: 'ES256' | 'PS256' | 'EdDSA'): Jwk => ({ ...pairOf(alg).export({ format: 'jwk' }), alg })

/** The public key of a new pair. */
export const publicJwk = (alg: 'ES256' | 'PS256' | 'EdDSA'): Jwk => {
  const { kty, crv, x, y, n, e } = privateJwk(alg)
  return JSON.parse(JSON.stringify({ kty, crv, x, y, n, e, alg }))
}

/** An RSA key with this number of bits. */
export const rsaJwk = (bits: number): Jwk => ({
  ...generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' }),
})

const pairOf = (alg: 'ES256' | 'PS256' | 'EdDSA'): KeyObject => {
  switch (alg) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    case 'PS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    case 'EdDSA':
      return generateKeyPairSync('ed25519').privateKey
  }
}
