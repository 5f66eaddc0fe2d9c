import { X509Certificate } from 'node:crypto'
import { SignJWT } from 'jose'
import t from 'tap'
import { clientAuthMethods } from '../../../src/oauth/clients/metadata.ts'
import { signingAlgs } from '../../../src/oauth/protocol.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import { findFreePort } from '../../support/free-port.ts'
import { type Members, newKey, signJws, type TestKey, unsignedJws } from '../fapi/support/jws.ts'
import { basic } from '../support/authorization-server.ts'
import { assertionClaims, assertionFields } from '../support/client-keys.ts'
import { type Fields, type Posted, send } from '../support/post.ts'
import { newProof } from '../support/proofs.ts'
import { claimsOf, headerOf } from './support/access-tokens.ts'
import { answerOf, authorizationQuery } from './support/browser.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'
import { type Fetch, fetchWith } from './support/secure-fetch.ts'

/** Line 94 of checklist.md: every value that the metadata list works, and every other value fails. */

const keys: Readonly<Record<(typeof signingAlgs)[number], TestKey>> = {
  ES256: newKey('ES256'),
  PS256: newKey('PS256'),
  EdDSA: newKey('EdDSA'),
  RS256: newKey('RS256'),
}
const certificates = createCertificates(t)

const jwkOf = ({ cert }: CertificateFiles): Members => {
  const { publicKey, raw } = new X509Certificate(cert)
  return { ...publicKey.export({ format: 'jwk' }), x5c: [raw.toString('base64')] }
}

const setup = async () => {
  const port = await findFreePort()
  const { ca, server } = certificates
  return {
    issuer: `https://localhost:${port}`,
    listen: `127.0.0.1:${port}`,
    tls: { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile, clientAuth: 'optional' },
    tokens: { dpop: { nonce: 'optional' } },
    clients,
  }
}

const keyClient = (method: string, changes: object): object => ({
  ...confidentialClient(method, { token_endpoint_auth_method: method, ...changes }),
  client_secret: undefined,
})

/** One client for each method, named after it. */
const clients = [
  confidentialClient('client_secret_basic', { introspects: 'all' }),
  confidentialClient('client_secret_post', {
    token_endpoint_auth_method: 'client_secret_post',
    introspection_signed_response_alg: 'EdDSA',
  }),
  keyClient('private_key_jwt', { jwks: { keys: Object.values(keys).map(({ publicJwk }) => publicJwk) } }),
  keyClient('tls_client_auth', {
    tls_client_auth_san_dns: 'client.example',
    tls_client_certificate_bound_access_tokens: true,
  }),
  keyClient('self_signed_tls_client_auth', { jwks: { keys: [jwkOf(certificates.selfSigned)] } }),
  publicClient('none'),
]

/** How a client authenticates: parameters, headers, and the connection if the client shows a certificate. */
interface Proof {
  readonly fields?: Fields
  readonly headers?: Fields
  readonly fetch?: Fetch
}

const grant = { grant_type: 'client_credentials' }
const algs = [...signingAlgs, 'ES384', 'HS256', 'none'] as const
const keyFor = (alg: string): TestKey => keys[signingAlgs.find(known => known === alg) ?? 'ES256']

onEachStore('J. The values that the metadata list', setup, async (t, { gateway }) => {
  const url = gateway.url.replace('127.0.0.1', 'localhost')
  const fetch = fetchWith(t, { ca: certificates.ca.cert })
  const fetchWithCertificate = ({ cert, key }: CertificateFiles): Fetch =>
    fetchWith(t, { ca: certificates.ca.cert, cert, key })
  const get = (place: string): Promise<Posted> => send(place, { method: 'GET', type: undefined, fetch })
  const post = (place: string, fields: Fields, { fields: proven = {}, headers = {}, ...by }: Proof): Promise<Posted> =>
    send(place, { fetch, headers, body: new URLSearchParams({ ...fields, ...proven }).toString(), ...by })
  const { body: metadata } = await get(`${url}/.well-known/oauth-authorization-server`)
  const listed = (member: string): readonly string[] => {
    const list = metadata[member]
    if (!Array.isArray(list)) throw new TypeError(`${member} is no list`)
    return list
  }
  const claimsFor = (client_id: string): Members => assertionClaims(client_id, url, Date.now())
  const signedBy = (key: TestKey, alg: string): string =>
    signJws({ alg, kid: key.kid }, claimsFor('private_key_jwt'), key)
  const hs256 = (): Promise<string> =>
    new SignJWT({ ...claimsFor('client_secret_basic') })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from('client_secret_basic-secret'.padEnd(32, ' ')))

  const basicProof = { headers: { authorization: basic('client_secret_basic', 'client_secret_basic-secret') } }
  const tlsProof = { fields: { client_id: 'tls_client_auth' }, fetch: fetchWithCertificate(certificates.client) }
  const selfSignedProof = {
    fields: { client_id: 'self_signed_tls_client_auth' },
    fetch: fetchWithCertificate(certificates.selfSigned),
  }
  const postProof = { fields: { client_id: 'client_secret_post', client_secret: 'client_secret_post-secret' } }
  const proofs: Readonly<Record<string, () => Proof | Promise<Proof>>> = {
    client_secret_basic: () => basicProof,
    client_secret_post: () => postProof,
    client_secret_jwt: async () => ({ fields: assertionFields(await hs256()) }),
    private_key_jwt: () => ({ fields: assertionFields(signedBy(keys.ES256, 'ES256')) }),
    tls_client_auth: () => tlsProof,
    self_signed_tls_client_auth: () => selfSignedProof,
    none: () => ({ fields: { client_id: 'none' } }),
  }

  await t.test(
    'each listed authentication method works at each endpoint (RFC 8414 section 2; checklist 94)',
    async t => {
      const endpoints = { token: grant, introspection: { token: 'x' }, revocation: { token: 'x' } }
      for (const [endpoint, fields] of Object.entries(endpoints)) {
        for (const method of [...clientAuthMethods, 'client_secret_jwt']) {
          const place = String(metadata[`${endpoint}_endpoint`])
          const { body } = await post(place, fields, (await proofs[method]?.()) ?? {})

          const isListed = listed(`${endpoint}_endpoint_auth_methods_supported`).includes(method)
          t.equal(body.error !== 'invalid_client', isListed, `${method} at the ${endpoint} endpoint`)
        }
      }
    },
  )

  await t.test('only the listed grant types are known (RFC 8414 section 2; checklist 94)', async t => {
    const others = ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code']
    for (const grant_type of [...listed('grant_types_supported'), ...others]) {
      const { body } = await post(`${url}/token`, { grant_type }, basicProof)
      const isListed = listed('grant_types_supported').includes(grant_type)
      t.equal(body.error !== 'unsupported_grant_type', isListed, grant_type)
    }
    t.ok(listed('grant_types_supported').includes('authorization_code'))
  })

  const request: Fields = Object.fromEntries(new URLSearchParams(authorizationQuery({ client_id: 'private_key_jwt' })))
  /** The error that an authorization request gets; undefined if it starts an interaction. */
  const errorOf = async (fields: Fields): Promise<string | undefined> =>
    answerOf(await get(`${url}/authorize?${new URLSearchParams(fields)}`)).error

  await t.test('each listed algorithm of client signatures works (RFC 8414 section 2; checklist 94)', async t => {
    const { jti: _jti, sub: _sub, ...rest } = claimsFor('private_key_jwt')
    const claims = { ...rest, ...request }
    for (const alg of algs) {
      const key = keyFor(alg)
      const isListed = (member: string): boolean => listed(member).includes(alg)

      const assertion = alg === 'none' ? unsignedJws({}, claimsFor('private_key_jwt')) : signedBy(key, alg)
      const asserted = await post(`${url}/token`, grant, { fields: assertionFields(assertion) })
      t.equal(
        asserted.status === 200,
        isListed('token_endpoint_auth_signing_alg_values_supported'),
        `assertion, ${alg}`,
      )

      const dpop = newProof(key, { uri: `${url}/token`, nowMs: Date.now() }, { header: { alg } })
      const proven = await post(`${url}/token`, grant, { headers: { ...basicProof.headers, dpop } })
      t.equal(proven.status === 200, isListed('dpop_signing_alg_values_supported'), `DPoP proof, ${alg}`)

      const object = alg === 'none' ? unsignedJws({}, claims) : signJws({ alg, kid: key.kid }, claims, key)
      const error = await errorOf({ ...request, request: object })
      const expected = isListed('request_object_signing_alg_values_supported') ? undefined : 'invalid_request_object'
      t.equal(error, expected, `request object, ${alg}`)
    }
  })

  await t.test(
    'code_challenge_methods_supported is S256, and each listed value works (RFC 8414 section 2; checklist 94)',
    async t => {
      t.same(listed('code_challenge_methods_supported'), ['S256'])
      const choices: Readonly<Record<string, readonly [parameter: string, others: readonly string[]]>> = {
        response_types_supported: ['response_type', ['token', 'id_token', 'code token', 'none', 'Code']],
        response_modes_supported: ['response_mode', ['fragment', 'form_post', 'query.jwt', 'jwt']],
        code_challenge_methods_supported: ['code_challenge_method', ['plain', 's256', 'S512']],
        scopes_supported: ['scope', ['unlisted', 'Read']],
      }
      for (const [member, [parameter, others]] of Object.entries(choices)) {
        for (const value of listed(member)) t.equal(await errorOf({ ...request, [parameter]: value }), undefined, value)
        for (const value of others) t.ok(await errorOf({ ...request, [parameter]: value }), value)
      }
      t.equal(metadata.request_uri_parameter_supported, false)
      const request_uri = 'https://app.example/request.jwt'
      t.equal(await errorOf({ ...request, request_uri }), 'request_uri_not_supported')
    },
  )

  await t.test(
    'introspection responses are signed as listed, and tokens are bound to certificates as declared (RFC 8414 section 2; checklist 94)',
    async t => {
      const used = new Set<unknown>()
      for (const proof of [basicProof, postProof]) {
        const headers = { accept: 'application/token-introspection+jwt', ...('headers' in proof && proof.headers) }
        const { text } = await post(`${url}/introspect`, { token: 'x' }, { ...proof, headers })
        used.add(headerOf(text).alg)
      }
      t.same([...used].toSorted(), listed('introspection_signing_alg_values_supported').toSorted())

      t.equal(metadata.tls_client_certificate_bound_access_tokens, true)
      const { body } = await post(`${url}/token`, grant, tlsProof)
      t.match(claimsOf(body.access_token).cnf, { 'x5t#S256': /^[\w-]{43}$/ })
    },
  )

  await t.test('every listed endpoint exists (RFC 8414 section 2; checklist 94)', async t => {
    const named = Object.entries(metadata).filter(([member]) => /_endpoint$|^jwks_uri$/.test(member))
    t.equal(named.length, 6)
    for (const [member, place] of named) t.not((await get(String(place))).status, 404, member)
  })
})
