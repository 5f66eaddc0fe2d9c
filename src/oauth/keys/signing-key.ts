import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { isKeyOfAlg, isSigningAlg, jwsAlgorithms } from '../jws-algorithms.ts'
import type { SigningAlg } from '../protocol.ts'

/** One key pair that signs by one algorithm (RFC 8725 section 3.1), synchronously. */
export interface SigningKey {
  readonly kid: string
  readonly alg: SigningAlg
  /** The public half as the key set shows it (RFC 7517 section 4). */
  readonly publicJwk: PublicJwk
  /** The signature over this text as JWS has it (RFC 7518 section 3, RFC 8037 section 3.1). */
  sign(text: string): Buffer
  verify(text: string, signature: Buffer): boolean
}

export type PublicJwk = Readonly<Record<string, unknown>>

/** What a signing key is made of: the members of a private JWK, and what it is for. */
export interface SigningKeySource {
  readonly kid: string
  readonly alg: string
  readonly jwk: Readonly<Record<string, unknown>>
}

/** @throws Error where the JWK is no private key, or none for its algorithm */
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
