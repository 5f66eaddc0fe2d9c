import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { hashGeneratedSecret } from '../oauth/secrets/secret-hash.ts'
import { Secret } from '../secret.ts'

/** What a new client proves itself with. */
export interface NewCredential {
  /** For the configuration: a digest, or a public key. */
  readonly members: Readonly<Record<string, unknown>>
  /** For the client, shown once. Undefined where nothing was made: it has none, or a certificate already. */
  readonly own: { readonly name: string; readonly value: Secret } | undefined
}

/** Makes what a way of authentication takes, as far as it can be made here. */
export const createCredential = (authMethod: string): NewCredential => {
  switch (authMethod) {
    case 'private_key_jwt':
      return createKey()
    case 'none':
    case 'tls_client_auth':
    case 'self_signed_tls_client_auth':
      return { members: {}, own: undefined }
    default:
      return createSecret()
  }
}

const createSecret = (): NewCredential => {
  const value = new Secret(randomBytes(32).toString('base64url'))
  return { members: { client_secret_hash: hashGeneratedSecret(value) }, own: { name: 'client_secret', value } }
}

const createKey = (): NewCredential => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const facts = { kid: randomUUID(), alg: 'ES256', use: 'sig' }
  const value = new Secret(JSON.stringify({ ...facts, ...privateKey.export({ format: 'jwk' }) }))
  return {
    members: { jwks: { keys: [{ ...facts, ...publicKey.export({ format: 'jwk' }) }] } },
    own: { name: 'private_jwk', value },
  }
}
