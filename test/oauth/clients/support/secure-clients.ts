import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { Agent, fetch } from 'undici'
import { type CertificateFiles, createCertificates } from '../../../support/certificates.ts'
import { findFreePort } from '../../../support/free-port.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../../../support/sidegate.ts'
import { type ClientKey, createClientKey, keySetOf } from '../../support/client-keys.ts'

type Fields = Readonly<Record<string, string>>

export interface Told {
  readonly status: number
  readonly retryAfter: string | null
  readonly error: unknown
}

/** The parts of a request beside its parameters. */
export interface Shown {
  readonly certificate?: CertificateFiles
  readonly headers?: Fields
}

/** The real program over TLS, four workers, one client named after each method, and `fetched` with a `jwks_uri`. */
export interface SecureClients {
  readonly gateway: RunningSidegate
  readonly issuer: string
  /** Of `private_key_jwt`. */
  readonly key: ClientKey
  /** Of `fetched`. */
  readonly fetchedKey: ClientKey
  /** Of `tls_client_auth`, and one more by the same CA. */
  readonly vouchedFor: CertificateFiles
  readonly otherVouchedFor: CertificateFiles
  /** Of `self_signed_tls_client_auth`, and one more with its name. */
  readonly selfSigned: CertificateFiles
  readonly otherSelfSigned: CertificateFiles
  /** The number of requests for the key set of `fetched`. */
  fetches(): number
  /** Requests a token on a new connection, so that the workers take turns. */
  ask(fields: Fields, shown?: Shown): Promise<Told>
}

export const startSecureClients = async (t: Test, changes: TestConfig): Promise<SecureClients> => {
  const certificates = createCertificates(t)
  const { ca, server, selfSigned } = certificates
  const [key, fetchedKey] = [await createClientKey('ES256'), await createClientKey('PS256')]
  const keyServer = await serveKeys(t, fetchedKey)
  const port = await findFreePort()
  const issuer = `https://localhost:${port}`
  const gateway = await startSidegate(t, {
    issuer,
    listen: `127.0.0.1:${port}`,
    workers: 4,
    tls: { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile, clientAuth: 'optional' },
    plans: { 'default-plan': { title: 'Default Plan', rate: '100000/1second' } },
    groupings: [{ name: 'OAuth', operations: [{ method: 'POST', path: '/token', serves: 'token' }] }],
    clients: [
      client('client_secret_basic', { client_secret: 'the-secret' }),
      client('client_secret_post', { client_secret: 'the-secret' }),
      client('private_key_jwt', { jwks: keySetOf(key) }),
      client('fetched', { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: keyServer.uri }),
      client('tls_client_auth', { tls_client_auth_subject_dn: 'CN=client,O=Tests' }),
      client('self_signed_tls_client_auth', { jwks: { keys: [jwkOf(selfSigned)] } }),
      client('rotating', { token_endpoint_auth_method: 'client_secret_basic', client_secrets: rotatingSecrets() }),
    ],
    ...changes,
  })
  return {
    gateway,
    issuer,
    key,
    fetchedKey,
    vouchedFor: certificates.client,
    otherVouchedFor: certificates.issue('other', { subject: '/O=Tests/CN=clienu' }),
    selfSigned,
    otherSelfSigned: certificates.issueSelfSigned('other-self-signed', { subject: '/CN=self-signed' }),
    fetches: keyServer.fetches,
    ask: (fields, shown = {}) => ask(`${issuer}/token`, fields, shown, ca.cert),
  }
}

const client = (client_id: string, more: TestConfig): TestConfig => ({
  client_id,
  grant_types: ['client_credentials'],
  scope: 'read',
  token_endpoint_auth_method: client_id,
  ...more,
})

/** The new secret, the old one in its overlap, and an expired one. */
const rotatingSecrets = (): readonly TestConfig[] => [
  { client_secret: 'new-secret' },
  { client_secret: 'old-secret', until: new Date(Date.now() + 3_600_000).toISOString() },
  { client_secret: 'ended-secret', until: new Date(Date.now() - 1000).toISOString() },
]

const jwkOf = ({ cert }: CertificateFiles): object => new X509Certificate(cert).publicKey.export({ format: 'jwk' })

const serveKeys = async (t: Test, key: ClientKey): Promise<{ readonly uri: string; fetches(): number }> => {
  let fetches = 0
  const server = createServer((_request, response) => {
    fetches++
    response.end(JSON.stringify(keySetOf(key)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`, fetches: () => fetches }
}

const ask = async (url: string, fields: Fields, { certificate, headers }: Shown, ca: string): Promise<Told> => {
  const shown = certificate && { cert: certificate.cert, key: certificate.key }
  const dispatcher = new Agent({ connect: { ca, ...shown } })
  try {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields })
    const response = await fetch(url, { method: 'POST', body, dispatcher, ...(headers && { headers }) })
    const { error } = (await response.json()) as { readonly error?: unknown }
    return { status: response.status, retryAfter: response.headers.get('retry-after'), error }
  } finally {
    await dispatcher.close()
  }
}
