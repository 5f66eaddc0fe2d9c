import { X509Certificate } from 'node:crypto'
import { SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { clientAuthMethods } from '../../../src/oauth/options.ts'
import { challengeOf } from '../../../src/oauth/tokens/code.ts'
import { signingAlgs } from '../../../src/oauth/wire.ts'
import { type CertificateFiles, createCertificates } from '../../support/certificates.ts'
import type { TestConfig } from '../../support/sidegate.ts'
import { type Members, newKey, signJws, type TestKey, unsignedJws } from '../fapi/support/jws.ts'
import { basic, verifier } from '../support/authorization-server.ts'
import { assertionClaims, assertionFields } from '../support/client-keys.ts'
import { type Fields, post } from '../support/post.ts'
import { newProof } from '../support/proofs.ts'
import { callback, startOAuth } from '../support/running.ts'

/** Line 94 as it is written: what the metadata list works, and what they do not list fails. */

const keys: Readonly<Record<(typeof signingAlgs)[number], TestKey>> = {
  ES256: newKey('ES256'),
  PS256: newKey('PS256'),
  EdDSA: newKey('EdDSA'),
  RS256: newKey('RS256'),
}

const client = (client_id: string, more: TestConfig): TestConfig => ({
  client_id,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  scope: 'read',
  ...more,
})

const jwkOf = ({ cert }: CertificateFiles): Members => {
  const { publicKey, raw } = new X509Certificate(cert)
  return { ...publicKey.export({ format: 'jwk' }), x5c: [raw.toString('base64')] }
}

/** RFC 9440 section 2.1, as a trusted proxy sends it. */
const clientCert = ({ cert }: CertificateFiles): Fields => ({
  'client-cert': `:${new X509Certificate(cert).raw.toString('base64')}:`,
})

/** One client for each method, and a trusted proxy: the test itself. */
const start = async (t: Test) => {
  const certificates = createCertificates(t)
  const { url } = await startOAuth(t, {
    workers: 1,
    store: 'memory:',
    trustedProxies: ['127.0.0.1'],
    clientCertificateHeader: 'client-cert',
    tokens: { dpop: { nonce: 'optional' } },
    clients: [
      client('client_secret_basic', { client_secret: 'client_secret_basic-secret', introspects: 'all' }),
      client('client_secret_post', {
        client_secret: 'client_secret_post-secret',
        token_endpoint_auth_method: 'client_secret_post',
        introspection_signed_response_alg: 'EdDSA',
        introspects: 'all',
      }),
      client('private_key_jwt', {
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: Object.values(keys).map(({ publicJwk }) => publicJwk) },
      }),
      client('tls_client_auth', {
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_san_dns: 'client.example',
        tls_client_certificate_bound_access_tokens: true,
      }),
      client('self_signed_tls_client_auth', {
        token_endpoint_auth_method: 'self_signed_tls_client_auth',
        jwks: { keys: [jwkOf(certificates.selfSigned)] },
      }),
      client('none', { token_endpoint_auth_method: 'none', grant_types: ['authorization_code'] }),
    ],
  })
  const metadata = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as Members
  const listed = (member: string): readonly string[] => {
    const list = metadata[member]
    if (!Array.isArray(list)) throw new TypeError(`${member} is no list`)
    return list
  }
  return { url, certificates, metadata, listed }
}

t.test('line 94: each thing that is listed works, and each that is not fails', async t => {
  const { url, certificates, metadata, listed } = await start(t)

  const claimsFor = (client_id: string): Members => assertionClaims(client_id, url, Date.now())
  const signedBy = (key: TestKey, alg: string): string =>
    signJws({ alg, kid: key.kid }, claimsFor('private_key_jwt'), key)
  const hs256 = (): Promise<string> =>
    new SignJWT({ ...claimsFor('client_secret_basic') })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from('client_secret_basic-secret'.padEnd(32, ' ')))

  /** How a client of each method proves itself: parameters and headers. */
  const proofs: Readonly<Record<string, () => readonly [Fields, Fields] | Promise<readonly [Fields, Fields]>>> = {
    client_secret_basic: () => [{}, { authorization: basic('client_secret_basic', 'client_secret_basic-secret') }],
    client_secret_post: () => [{ client_id: 'client_secret_post', client_secret: 'client_secret_post-secret' }, {}],
    client_secret_jwt: async () => [assertionFields(await hs256()), {}],
    private_key_jwt: () => [assertionFields(signedBy(keys.ES256, 'ES256')), {}],
    tls_client_auth: () => [{ client_id: 'tls_client_auth' }, clientCert(certificates.client)],
    self_signed_tls_client_auth: () => [
      { client_id: 'self_signed_tls_client_auth' },
      clientCert(certificates.selfSigned),
    ],
    none: () => [{ client_id: 'none' }, {}],
  }
  const grant = { grant_type: 'client_credentials' }
  const endpoints = { token: grant, introspection: { token: 'x' }, revocation: { token: 'x' } }

  for (const [endpoint, fields] of Object.entries(endpoints)) {
    for (const method of [...clientAuthMethods, 'client_secret_jwt']) {
      await t.test(`authentication at the ${endpoint} endpoint: ${method}`, async t => {
        const [proof = {}, headers = {}] = (await proofs[method]?.()) ?? []

        const { body } = await post(
          String(metadata[`${endpoint}_endpoint`]),
          { ...fields, ...proof },
          undefined,
          headers,
        )

        const isListed = listed(`${endpoint}_endpoint_auth_methods_supported`).includes(method)
        t.equal(body.error !== 'invalid_client', isListed)
      })
    }
  }

  const algs = [...signingAlgs, 'ES384', 'HS256', 'none'] as const
  const keyFor = (alg: string): TestKey => keys[signingAlgs.find(known => known === alg) ?? 'ES256']

  for (const alg of algs) {
    await t.test(`algorithm of an assertion: ${alg}`, async t => {
      const assertion = alg === 'none' ? unsignedJws({}, claimsFor('private_key_jwt')) : signedBy(keyFor(alg), alg)

      const { status } = await post(`${url}/token`, { ...grant, ...assertionFields(assertion) })

      const isListed = listed('token_endpoint_auth_signing_alg_values_supported').includes(alg)
      t.equal(status, isListed ? 200 : 401)
    })

    await t.test(`algorithm of a DPoP proof: ${alg}`, async t => {
      const proof = newProof(keyFor(alg), { uri: `${url}/token`, nowMs: Date.now() }, { header: { alg } })

      const answer = await post(`${url}/token`, grant, 'client_secret_basic', { dpop: proof })

      const isListed = listed('dpop_signing_alg_values_supported').includes(alg)
      t.match(answer.body, isListed ? { token_type: 'DPoP' } : { error: 'invalid_dpop_proof' })
    })
  }

  const request: Fields = {
    client_id: 'private_key_jwt',
    response_type: 'code',
    redirect_uri: callback,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  }
  /** The error that an authorization request gets; undefined: it begins an interaction. */
  const errorOf = async (fields: Fields): Promise<string | undefined> => {
    const place = `${metadata.authorization_endpoint}?${new URLSearchParams(fields)}`
    const location = (await fetch(place, { redirect: 'manual' })).headers.get('location') ?? ''
    return new URL(location, url).searchParams.get('error') ?? undefined
  }

  for (const alg of algs) {
    await t.test(`algorithm of a request object: ${alg}`, async t => {
      const { jti: _jti, sub: _sub, ...claims } = claimsFor('private_key_jwt')
      const whole = { ...claims, ...request }
      const key = keyFor(alg)
      const object = alg === 'none' ? unsignedJws({}, whole) : signJws({ alg, kid: key.kid }, whole, key)

      const isListed = listed('request_object_signing_alg_values_supported').includes(alg)
      t.equal(await errorOf({ ...request, request: object }), isListed ? undefined : 'invalid_request_object')
    })
  }

  const choices: Readonly<Record<string, readonly [parameter: string, values: readonly string[]]>> = {
    response_types_supported: ['response_type', ['code', 'token', 'id_token', 'code token', 'none']],
    response_modes_supported: ['response_mode', ['query', 'fragment', 'form_post', 'query.jwt', 'jwt']],
    code_challenge_methods_supported: ['code_challenge_method', ['S256', 'plain', 'S512']],
  }
  for (const [member, [parameter, values]] of Object.entries(choices)) {
    await t.test(`every value of ${parameter}`, async t => {
      for (const value of [...values, ...listed(member)]) {
        t.equal(
          (await errorOf({ ...request, [parameter]: value })) === undefined,
          listed(member).includes(value),
          value,
        )
      }
    })
  }

  await t.test('every scope, and one more', async t => {
    for (const scope of [...listed('scopes_supported'), 'unlisted']) {
      t.equal((await errorOf({ ...request, scope })) === undefined, listed('scopes_supported').includes(scope), scope)
    }
  })

  await t.test('a request_uri of the client', async t => {
    t.equal(metadata.request_uri_parameter_supported, false)
    const request_uri = 'https://app.example/request.jwt'
    t.equal(await errorOf({ ...request, request_uri }), 'request_uri_not_supported')
  })

  await t.test('algorithms of signed introspection', async t => {
    const headers = { accept: 'application/token-introspection+jwt' }
    const used = new Set<unknown>()
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const [proof = {}, more = {}] = (await proofs[method]?.()) ?? []
      const { text } = await post(`${url}/introspect`, { token: 'x', ...proof }, undefined, { ...headers, ...more })
      used.add(JSON.parse(Buffer.from(text.split('.', 1)[0] ?? '', 'base64url').toString()).alg)
    }
    t.same([...used].toSorted(), listed('introspection_signing_alg_values_supported').toSorted())
  })

  await t.test('tokens bound to certificates', async t => {
    t.equal(metadata.tls_client_certificate_bound_access_tokens, true)
    const { body } = await post(
      `${url}/token`,
      { ...grant, client_id: 'tls_client_auth' },
      undefined,
      clientCert(certificates.client),
    )
    const claims = JSON.parse(Buffer.from(String(body.access_token).split('.')[1] ?? '', 'base64url').toString())
    t.match(claims.cnf, { 'x5t#S256': /^[\w-]{43}$/ })
  })

  await t.test('every endpoint that is named is there', async t => {
    const named = Object.entries(metadata).filter(([member]) => /_endpoint$|^jwks_uri$/.test(member))
    t.equal(named.length, 6)
    for (const [member, place] of named) t.not((await fetch(String(place))).status, 404, member)
  })
})
