import { constants, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { type SigningAlg, signingAlgs } from '../protocol.ts'

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
  if (!isSigningAlg(alg)) throw new Error('the algorithm is none that Sidegate signs with')
  const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  const publicKey = createPublicKey(privateKey)
  if (!fits[alg](publicKey)) throw new Error(`the key is none for ${alg}`)
  const { digest, ...method } = methods[alg]
  const signing = { key: privateKey, ...method }
  const verifying = { key: publicKey, ...method }
  return {
    kid,
    alg,
    publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    sign: text => sign(digest, Buffer.from(text), signing),
    verify: (text, signature) => verify(digest, Buffer.from(text), verifying, signature),
  }
}

export const isSigningAlg = (alg: unknown): alg is SigningAlg => signingAlgs.some(known => known === alg)

/** RFC 7518 sections 3.3 to 3.5, RFC 8037 section 3.1. `ieee-p1363` is `r || s`, not the ASN.1 that is node's default. */
const methods = {
  ES256: { digest: 'sha256', dsaEncoding: 'ieee-p1363' },
  PS256: {
    digest: 'sha256',
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  },
  EdDSA: { digest: null },
  RS256: { digest: 'sha256', padding: constants.RSA_PKCS1_PADDING },
} as const satisfies Record<SigningAlg, object>

/** RFC 7518 sections 3.3 and 3.5 ask for 2048 bits or more. */
const isRsa = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048

const fits: Readonly<Record<SigningAlg, (key: KeyObject) => boolean>> = {
  ES256: key => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1',
  PS256: isRsa,
  EdDSA: key => key.asymmetricKeyType === 'ed25519',
  RS256: isRsa,
}
