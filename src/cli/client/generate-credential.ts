import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { hashGeneratedSecret } from '../../oauth/secrets/secret-hash.ts'
import { Secret } from '../../secret.ts'
import { readCertificateFile } from './certificate-file.ts'
import type { ClientOptions } from './options.ts'

/** The credential of a new client. */
export interface NewCredential {
  /** For the configuration: a digest, or a public key. */
  readonly members: Readonly<Record<string, unknown>>
  /**
   * For the client, shown once. Undefined if nothing was generated, because the client has no credential, or has a
   * certificate already.
   */
  readonly own: { readonly name: string; readonly value: Secret } | undefined
}

/**
 * Generates the credential for an authentication method, or reads the one that the options name.
 * @throws Error one line, if a certificate is named that cannot be read
 */
export const createCredential = (authMethod: string, options: ClientOptions): NewCredential => {
  const { 'subject-dn': subjectName, certificate, 'jwks-uri': jwksUri } = options
  if (jwksUri) return registered({ jwks_uri: jwksUri })
  switch (authMethod) {
    case 'private_key_jwt':
      return createKey()
    case 'tls_client_auth':
      return registered({
        tls_client_auth_subject_dn: certificate ? readCertificateFile(certificate).subjectName : subjectName,
      })
    case 'self_signed_tls_client_auth':
      return registered(certificate ? { jwks: readCertificateFile(certificate).jwks } : {})
    case 'none':
      return registered({})
    default:
      return createSecret()
  }
}

/** Credentials that the client has already. */
const registered = (members: NewCredential['members']): NewCredential => ({ members, own: undefined })

/** A secret with 256 random bits, and its digest. */
export const createSecret = () => {
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
