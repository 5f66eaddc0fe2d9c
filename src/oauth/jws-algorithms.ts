import { constants, type KeyObject } from 'node:crypto'
import { type SigningAlg, signingAlgs } from './protocol.ts'

/** The JWS signature algorithms (RFC 7518 sections 3.3 to 3.5, RFC 8037 section 3.1), as `node:crypto` takes them. */

/**
 * The digest and the options of `sign` and `verify`. `ieee-p1363` is the `r || s` that JWS requires; Node's default
 * is ASN.1.
 */
export const jwsAlgorithms = {
  ES256: { digest: 'sha256', options: { dsaEncoding: 'ieee-p1363' } },
  // RFC 7518 section 3.5: the salt is as long as the digest.
  PS256: {
    digest: 'sha256',
    options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  },
  EdDSA: { digest: null, options: {} },
  RS256: { digest: 'sha256', options: { padding: constants.RSA_PKCS1_PADDING } },
} as const satisfies Record<SigningAlg, object>

export const isSigningAlg = (alg: unknown): alg is SigningAlg => signingAlgs.some(known => known === alg)

/** RFC 7518 sections 3.3 and 3.5. */
export const minRsaBits = 2048

/**
 * Whether a key has the type, the curve and the minimum length that the algorithm requires. There is no maximum here:
 * the configuration checks the operator's own keys, and `findKeyLimitFault` of `client-keys/` limits the keys of
 * other parties, whose length decides how long a verification takes.
 */
export const isKeyOfAlg = (alg: SigningAlg, { asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean => {
  switch (alg) {
    case 'ES256':
      return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
    case 'EdDSA':
      return asymmetricKeyType === 'ed25519'
    case 'PS256':
    case 'RS256':
      return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= minRsaBits
  }
}
