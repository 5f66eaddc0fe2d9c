import t, { type Test } from 'tap'
import { client, issuer, type OptionChanges, startServer } from '../support/authorization-server.ts'

const strong = ['ES256', 'PS256', 'EdDSA']

t.test(
  'the metadata list the served endpoints, with the configured issuer (RFC 8414 section 3, RFC 8414 section 2; checklist 93, 94)',
  async t => {
    const { server } = await startServer(t)

    const { status, body } = server.metadata()

    t.equal(status, 200)
    t.same(body, {
      issuer,
      token_endpoint: `${issuer}/token`,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
      token_endpoint_auth_signing_alg_values_supported: strong,
      grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
      dpop_signing_alg_values_supported: strong,
      authorization_endpoint: `${issuer}/authorize`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: true,
      request_uri_parameter_supported: false,
      request_object_signing_alg_values_supported: strong,
      introspection_endpoint: `${issuer}/introspect`,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      introspection_endpoint_auth_signing_alg_values_supported: strong,
      introspection_signing_alg_values_supported: ['ES256'],
      revocation_endpoint: `${issuer}/revoke`,
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
        'none',
      ],
      revocation_endpoint_auth_signing_alg_values_supported: strong,
      jwks_uri: `${issuer}/jwks.json`,
      scopes_supported: ['read', 'write', 'offline_access'],
    })
  },
)

t.test('a member without an endpoint or without entries is left out (RFC 8414 section 2; checklist 94)', async t => {
  const endpoints = { token: `${issuer}/token` }
  const { server } = await startServer(t, { endpoints, clients: [client('app', { scope: [] })] })

  t.same(Object.keys(server.metadata().body ?? {}), [
    'issuer',
    'token_endpoint',
    'token_endpoint_auth_methods_supported',
    'token_endpoint_auth_signing_alg_values_supported',
    'grant_types_supported',
    'dpop_signing_alg_values_supported',
  ])
})

/** The metadata with these options. */
const metadataOf = async (t: Test, changes: OptionChanges): Promise<Readonly<Record<string, unknown>>> => {
  const { server } = await startServer(t, changes)
  return { ...Object(server.metadata().body) }
}

t.test('if clients can show certificates, the metadata declare it (RFC 8414 section 2; checklist 94)', async t => {
  const metadata = await metadataOf(t, { takesClientCertificates: true })

  t.equal(metadata.tls_client_certificate_bound_access_tokens, true)
  const methods = ['private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth', 'none']
  t.same(metadata.token_endpoint_auth_methods_supported, ['client_secret_basic', 'client_secret_post', ...methods])
})

t.test(
  'under FAPI 2.0 the metadata list no forbidden method or algorithm (RFC 8414 section 2; checklist 94)',
  async t => {
    const old = client('old', { token_endpoint_auth_signing_alg: 'RS256', request_object_signing_alg: 'RS256' })
    const endpoints = { token: `${issuer}/token`, authorize: `${issuer}/authorize`, par: `${issuer}/par` }
    const metadata = await metadataOf(t, { profile: 'fapi2', takesClientCertificates: true, clients: [old], endpoints })

    t.match(metadata, {
      pushed_authorization_request_endpoint: `${issuer}/par`,
      require_pushed_authorization_requests: true,
    })
    t.same(metadata.token_endpoint_auth_methods_supported, [
      'private_key_jwt',
      'tls_client_auth',
      'self_signed_tls_client_auth',
    ])
    t.same(metadata.token_endpoint_auth_signing_alg_values_supported, strong)
    t.same(metadata.request_object_signing_alg_values_supported, strong)
  },
)

t.test('RS256 is listed if an old client is registered with it (RFC 8414 section 2; checklist 94)', async t => {
  const old = { token_endpoint_auth_signing_alg: 'RS256', introspection_signed_response_alg: 'RS256' } as const
  const metadata = await metadataOf(t, { clients: [client('app'), client('old', old)] })

  t.same(metadata.token_endpoint_auth_signing_alg_values_supported, [...strong, 'RS256'])
  t.same(metadata.introspection_signing_alg_values_supported, ['ES256', 'RS256'])
  t.same(metadata.request_object_signing_alg_values_supported, strong)
})

t.test('the metadata demand only the rules that apply to every client (RFC 8414 section 2; checklist 94)', async t => {
  const strict = { require_pushed_authorization_requests: true, require_signed_request_object: true }
  const machine = client('machine', { grant_types: ['client_credentials'] })
  const demands = { require_pushed_authorization_requests: true, require_signed_request_object: true }

  t.match(await metadataOf(t, { clients: [client('app', strict), machine] }), demands)
  const mixed = await metadataOf(t, { clients: [client('app', strict), client('other')] })
  for (const demand of Object.keys(demands)) t.notOk(demand in mixed, demand)
})

t.test('the metadata list the resources that are described here (RFC 9728 section 4)', async t => {
  const resources = [
    {
      resource: `${issuer}/accounts`,
      scopes: ['read'],
      name: 'A',
      metadataPath: '/.well-known/oauth-protected-resource/accounts',
    },
    { resource: 'https://elsewhere.example', scopes: [], name: 'B' },
  ]

  t.same((await metadataOf(t, { resources })).protected_resources, [`${issuer}/accounts`])
})

t.test('only the listed grant types are known to the token endpoint (RFC 8414 section 2; checklist 94)', async t => {
  const { server, token } = await startServer(t)
  const listed = (server.metadata().body as { grant_types_supported: string[] }).grant_types_supported

  for (const grant_type of listed) {
    const { body } = await token({ grant_type }, { as: 'app' })
    t.not(body.error, 'unsupported_grant_type', grant_type)
  }
  for (const grant_type of ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code']) {
    t.match(await token({ grant_type }, { as: 'app' }), { body: { error: 'unsupported_grant_type' } }, grant_type)
  }
})
