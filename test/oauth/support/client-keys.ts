import { KeyObject, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'
import type { ClientKeys } from '../../../src/oauth/client-keys/key-source.ts'
import type { JwkSet } from '../../../src/oauth/client-keys/public-keys.ts'
import type { SigningAlg } from '../../../src/oauth/protocol.ts'

/** Members of a JSON object, right or wrong. */
export type Members = Readonly<Record<string, unknown>>

/** A private key of a client, and the public half that the client registers. */
export interface ClientKey {
  readonly kid: string
  readonly publicJwk: JwkSet['keys'][number]
  readonly publicKey: KeyObject
  /** Signs with this key; the header names the key and may have more members, or other ones. */
  sign(claims: Members, header?: Members): Promise<string>
}

/** Made by another implementation than the one that verifies. */
export const createClientKey = async (alg: SigningAlg, kid = 'key-1'): Promise<ClientKey> => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return {
    kid,
    publicJwk: { ...(await exportJWK(publicKey)), kid },
    publicKey: KeyObject.from(publicKey),
    sign: (claims, header = {}) => {
      const whole = { alg, kid, ...header } as JWTHeaderParameters // tests write wrong ones too
      return new SignJWT({ ...claims }).setProtectedHeader(whole).sign(privateKey)
    },
  }
}

/** The keys as a client registers them. */
export const keySetOf = (...keys: readonly ClientKey[]): JwkSet => ({ keys: keys.map(({ publicJwk }) => publicJwk) })

export const registered = (...keys: readonly ClientKey[]): ClientKeys => ({ kind: 'jwks', jwks: keySetOf(...keys) })

export const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The claims of a client assertion (RFC 7523 section 3), issued now, for a minute, with a new jti. */
export const assertionClaims = (client_id: string, aud: string, nowMs: number): Members => {
  const nowSec = Math.floor(nowMs / 1000)
  return { iss: client_id, sub: client_id, aud, jti: randomUUID(), iat: nowSec, exp: nowSec + 60 }
}

/** The parameters of an assertion. */
export const assertionFields = (client_assertion: string): Readonly<Record<string, string>> => ({
  client_assertion_type: jwtBearer,
  client_assertion,
})
