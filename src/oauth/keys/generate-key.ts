import { randomBytes } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { exportJWK } from 'jose/key/export'
import { generateKeyPair } from 'jose/key/generate/keypair'
import type { KeyRecord } from '../../stores/ports/keys.ts'
import type { SigningAlg } from '../protocol.ts'

/**
 * The algorithm of the digest key, under which the store knows codes and tokens. It is a key record like the others,
 * but signs nothing.
 */
export const digestAlg = 'HS256'

/**
 * Generates a key of 128 bits of strength or, for RSA, of the 2048 bits that RFC 7518 requires. Does not block the
 * event loop.
 */
export const generateKey = async (
  alg: SigningAlg | typeof digestAlg,
  createdAtMs: number,
  activeAtMs = createdAtMs,
): Promise<KeyRecord> => {
  const jwk = alg === digestAlg ? generateSecret() : await generateKeyPairJwk(alg)
  return { kid: await calculateJwkThumbprint(jwk), alg, createdAtMs, activeAtMs, jwk }
}

const generateSecret = () => ({ kty: 'oct', k: randomBytes(32).toString('base64url') })

const generateKeyPairJwk = async (alg: SigningAlg) => {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)) }
}
