import { X509Certificate } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import type { Test } from 'tap'
import { Agent, fetch as undiciFetch } from 'undici'
import { hashSecret } from '../../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../../src/secret.ts'
import { type Certificates, createCertificates } from '../../../support/certificates.ts'
import { findFreePort } from '../../../support/free-port.ts'
import { startStrictUpstream } from '../../../support/recording-upstream.ts'
import { startSidegate, type TestConfig } from '../../../support/sidegate.ts'

export const callback = 'https://client.example/callback'

export type Fetch = typeof globalThis.fetch

export interface SecureGateway {
  /** `https://localhost:<port>`, which the gateway serves itself. */
  readonly issuer: URL
  /** Trusts the gateway's certificate, and shows none. */
  readonly fetch: Fetch
  /** Shows the client certificate that the test's CA has issued. */
  readonly fetchAsClient: Fetch
  /** Shows a self-signed certificate. */
  readonly fetchSelfSigned: Fetch
  /** Of the client `jwt`. */
  readonly assertionKey: CryptoKey
}

/**
 * The real program over TLS with one client for each authentication method: `basic`, `post`, `jwt`, `tls`,
 * `self-signed` and the public `spa`; below `/accounts` is an API that requires the scope `read`.
 */
export const startSecureGateway = async (t: Test): Promise<SecureGateway> => {
  const certificates = createCertificates(t)
  const upstream = await startStrictUpstream(t)
  const port = await findFreePort()
  const issuer = new URL(`https://localhost:${port}`)
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'assertion' }] }
  await startSidegate(t, {
    issuer: issuer.origin,
    listen: `127.0.0.1:${port}`,
    workers: 1,
    tls: {
      cert_file: certificates.server.certFile,
      key_file: certificates.server.keyFile,
      clientCa_file: certificates.ca.certFile,
      clientAuth: 'optional',
    },
    plans: { 'default-plan': { title: 'Default Plan', rate: '100000/1second' } },
    groupings: [{ name: 'OAuth', operations }, accounts],
    upstreams: { accounts: { targets: [upstream.url] } },
    clients: clientsWith(jwks, certificates),
    login: { users: [{ username: 'alice', password_hash: await hashSecret(new Secret('wonderland')) }] },
  })
  const { ca, client, selfSigned } = certificates
  return {
    issuer,
    fetch: fetchWith(t, { ca: ca.cert }),
    fetchAsClient: fetchWith(t, { ca: ca.cert, cert: client.cert, key: client.key }),
    fetchSelfSigned: fetchWith(t, { ca: ca.cert, cert: selfSigned.cert, key: selfSigned.key }),
    assertionKey: privateKey,
  }
}

const fetchWith = (t: Test, connect: Readonly<Record<string, string>>): Fetch => {
  const dispatcher = new Agent({ connect, pipelining: 0 })
  t.teardown(() => dispatcher.close())
  const fetch = (input: string | URL, init: object = {}) => undiciFetch(input, { ...init, dispatcher })
  return fetch as unknown as Fetch // the same interface, declared twice
}

const clientsWith = (jwks: object, { selfSigned }: Certificates): readonly TestConfig[] => {
  const certificate = new X509Certificate(selfSigned.cert)
  const selfSignedJwk = {
    ...certificate.publicKey.export({ format: 'jwk' }),
    x5c: [certificate.raw.toString('base64')],
  }
  return [
    client('basic', { client_secret: 'basic-secret', introspects: 'all' }),
    client('post', { client_secret: 'post-secret', token_endpoint_auth_method: 'client_secret_post' }),
    client('jwt', { token_endpoint_auth_method: 'private_key_jwt', jwks }),
    client('tls', {
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_san_dns: 'client.example',
      tls_client_certificate_bound_access_tokens: true,
    }),
    client('self-signed', {
      token_endpoint_auth_method: 'self_signed_tls_client_auth',
      jwks: { keys: [selfSignedJwk] },
      tls_client_certificate_bound_access_tokens: true,
    }),
    client('spa', { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] }),
  ]
}

const client = (client_id: string, more: TestConfig): TestConfig => ({
  client_id,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  scope: 'read write',
  ...more,
})

const accounts: TestConfig = {
  name: 'Accounts',
  basePath: '/accounts',
  upstream: 'accounts',
  operations: [{ method: 'GET', path: '/**', scopes: ['read'] }],
}

const operations = [
  { method: 'POST', path: '/token', serves: 'token' },
  { method: 'POST', path: '/par', serves: 'par' },
  { method: 'POST', path: '/introspect', serves: 'introspect' },
  { method: 'POST', path: '/revoke', serves: 'revoke' },
  { method: 'GET', path: '/authorize', serves: 'authorize' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server', serves: 'discovery', plan: 'none' },
  { method: 'GET', path: '/.well-known/jwks.json', serves: 'jwks', plan: 'none' },
]
