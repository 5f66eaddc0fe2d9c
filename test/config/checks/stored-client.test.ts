import t from 'tap'
import { createStoredClientReader } from '../../../src/config/stored-client.ts'
import { secretKindOf } from '../../../src/oauth/clients/secret-kinds.ts'
import { acceptedConfig, authorize, client, forwarded, hash, publishing, token } from '../support.ts'

const members = (changes: Readonly<Record<string, unknown>> = {}) => ({
  client_id: 'kept',
  client_secret_hash: hash,
  grant_types: ['client_credentials'],
  ...changes,
})

const base = { ...publishing(token, authorize, forwarded), issuer: 'https://as.example', workers: 1 }
const plans = { gold: { rate: '1/1second' }, silver: { rate: '1/1second' } }
const throughProxy = { trustedProxies: ['10.0.0.0/8'], clientCertificateHeader: 'client-cert' }

/** Reads a client of the store under a configuration. */
const read = async (changes: object, config: object = {}) =>
  createStoredClientReader(await acceptedConfig(t, { ...base, ...config })).read('kept', members({ ...changes }))

t.test('a client of the store becomes what the same client of the file is', async t => {
  const own = members({
    scope: 'read write',
    client_secrets: [{ client_secret_hash: hash, until: '2027-01-31T12:00Z' }],
  })
  const config = { tokens: { accessToken: { alg: 'PS256' } } }
  const filed = (await acceptedConfig(t, { ...base, ...config, clients: [own] })).oauth.clients.find('kept')

  const stored = await read(own, config)

  t.same(stored, filed)
  t.match(stored, { plan: 'default-plan', access_token_signed_response_alg: 'PS256', scope: ['read', 'write'] })
  t.same(typeof stored === 'string' ? [] : stored.secrets.map(secretKindOf), ['quick', 'quick'])
})

const misfits: readonly (readonly [says: string, changes: object, config: object, reason: RegExp])[] = [
  ['an unknown member', { client_idd: 'x' }, {}, /client_idd: unknown key/],
  ['a space at an end of its id', { client_id: 'kept ' }, {}, /^client_id: a client_id has no space at either end/],
  ['a name with an open override', { client_name: 'a\u202eb' }, {}, /^client_name: must close each bidirectional/],
  ['a redirect that can be read on its way', { redirect_uris: ['http://a.example/'] }, {}, /^redirect_uris\[0\]: /],
  ['a plan that is gone', { plan: 'bronze' }, { plans }, /plan: no such plan; known are gold, silver$/],
  ['no plan where there are several', {}, { plans }, /^plan: missing/],
  [
    'a secret in the clear',
    { client_secret_hash: undefined, client_secret: 's' },
    {},
    /client_secret: the store may contain only digests of secrets/,
  ],
  ['a secret in a file', { client_secret_hash: undefined, client_secret_file: 's' }, {}, /client_secret: missing/],
  [
    'another id than its own',
    { client_id: 'other' },
    {},
    /^client_id: differs from the client_id that it is stored under$/,
  ],
  [
    'the sub of a user',
    {},
    { login: { users: [{ username: 'a', password_hash: hash, sub: 'kept' }] } },
    /client_id: equals the sub of a user, so the user could be mistaken for this client \(RFC 9700 section 4\.15\)/,
  ],
  [
    'codes although no operation serves authorize',
    { grant_types: ['authorization_code'], redirect_uris: ['https://a.example/'] },
    publishing(token),
    /^grant_types: .*serves authorize/,
  ],
  [
    'a resource that the configuration does not have',
    { introspects: ['https://a.example/'] },
    {},
    /^introspects: names a resource/,
  ],
  [
    'a signature without key',
    { access_token_signed_response_alg: 'EdDSA' },
    {},
    /access_token_signed_response_alg: the configuration uses no key for EdDSA/,
  ],
  [
    'a certificate that cannot come',
    {
      client_secret_hash: undefined,
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_subject_dn: 'CN=a',
    },
    {},
    /token_endpoint_auth_method: certificates of clients do not reach Sidegate/,
  ],
  [
    'a certificate of a kind that the proxy is not said to check',
    {
      client_secret_hash: undefined,
      token_endpoint_auth_method: 'tls_client_auth',
      tls_client_auth_subject_dn: 'CN=a',
    },
    throughProxy,
    /token_endpoint_auth_method: no client of the configuration uses this method through clientCertificateHeader/,
  ],
  [
    'a profile that it does not keep to',
    { profile: 'fapi2' },
    {},
    /token_endpoint_auth_method: profile: fapi2 requires private_key_jwt, tls_client_auth or self_signed_tls_client_auth \(section 5\.3\.2\.1\)/,
  ],
  [
    'a profile that the server does not keep to',
    {
      profile: 'fapi2',
      client_secret_hash: undefined,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://a.example/jwks',
      dpop_bound_access_tokens: true,
    },
    { issuer: 'http://as.example' },
    /profile: profile: fapi2 requires an https issuer \(section 5\.2\.2\)/,
  ],
]

for (const [says, changes, config, reason] of misfits) {
  t.test(`a client of the store does not fit if it has ${says}`, async t => {
    t.match(await read(changes, config), reason)
  })
}

t.test('the same clients fit with a small change', async t => {
  const named = { client_secret_hash: undefined, token_endpoint_auth_method: 'tls_client_auth' }
  const filed = client({ client_secret: undefined, ...named, tls_client_auth_subject_dn: 'CN=b' })

  t.match(await read({ plan: 'gold' }, { plans }), { plan: 'gold' })
  t.match(await read({ introspects: ['https://as.example'] }), { introspects: ['https://as.example'] })
  t.match(
    await read(
      { access_token_signed_response_alg: 'EdDSA' },
      { clients: [client({ introspection_signed_response_alg: 'EdDSA' })] },
    ),
    { access_token_signed_response_alg: 'EdDSA' },
  )
  t.match(await read({ ...named, tls_client_auth_subject_dn: 'CN=a' }, { ...throughProxy, clients: [filed] }), {
    certificateName: { value: 'CN=a' },
  })
})

t.test('the reader also gives the metadata of clients that do not fit the configuration', async t => {
  const reader = createStoredClientReader(await acceptedConfig(t, { ...base, plans, clients: [] }))

  t.match(reader.metadataOf(members({ plan: 'gone', scope: 'read' })), { plan: 'gone', scope: ['read'] })
  t.equal(reader.metadataOf({}), undefined)
})
