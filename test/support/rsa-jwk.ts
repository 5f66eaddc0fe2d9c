import { randomBytes } from 'node:crypto'

/** A public RSA key of this many bits. No private key belongs to it, and none is needed. */
export const rsaJwk = (bits: number, exponent: Buffer = Buffer.from('AQAB', 'base64url')) => {
  const modulus = randomBytes(Math.ceil(bits / 8))
  modulus[0] = 1 << ((bits - 1) % 8)
  modulus[modulus.length - 1] = 1
  return { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') }
}
