import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { isKeyOfAlg, isSigningAlg, jwsAlgorithms } from '../jws-algorithms.ts'
import type { SigningAlg } from '../protocol.ts'

/** One key pair for one algorithm (RFC 8725 section 3.1). It signs and verifies synchronously. */
export interface SigningKey {
  readonly kid: string
  readonly alg: SigningAlg
  /** The public key as the key set contains it (RFC 7517 section 4). */
  readonly publicJwk: PublicJwk
  /** The signature of this text in the format of JWS (RFC 7518 section 3, RFC 8037 section 3.1). */
  sign(text: string): Buffer
  verify(text: string, signature: Buffer): boolean
}

export type PublicJwk = Readonly<Record<string, unknown>>

/** The source of a signing key: the members of a private JWK, its kid and its algorithm. */
export interface SigningKeySource {
  readonly kid: string
  readonly alg: string
  readonly jwk: Readonly<Record<string, unknown>>
}

/** @throws Error if the JWK is not a private key, or not one for its algorithm */
export const toSigningKey = ({ kid, alg, jwk }: SigningKeySource): SigningKey => {
  if (!isSigningAlg(alg)) throw new Error('unsupported signing algorithm')
  const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  const publicKey = createPublicKey(privateKey)
  if (!isKeyOfAlg(alg, publicKey)) throw new Error(`the key cannot sign with ${alg}`)
  const { digest, options } = jwsAlgorithms[alg]
  const signing = { key: privateKey, ...options }
  const verifying = { key: publicKey, ...options }
  return {
    kid,
    alg,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    sign: text => sign(digest, Buffer.from(text), signing),
    verify: (text, signature) => verify(digest, Buffer.from(text), verifying, signature),
  }
}
