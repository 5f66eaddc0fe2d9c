import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createCertificates } from '../../support/certificates.ts'
import { privateJwk, publicJwk } from '../keys.ts'
import { acceptedConfig, client, forwarded, makeFolder, problemsOf, publishing, token } from '../support.ts'

const { server, ca } = createCertificates(t)
const tls = { cert_file: server.certFile, key_file: server.keyFile, clientCa_file: ca.certFile }
const jwks = { keys: [publicJwk('ES256')] }
const keyed = { client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt', jwks }

t.test('proofs, keys and pushed requests have defaults if the file does not set them', async t => {
  const { oauth, clientCertificateHeader, tls, internal } = await acceptedConfig(t, { clients: [client()] })

  t.match(oauth, {
    profile: 'none',
    par: { lifetimeSec: 60 },
    dpop: { nonce: 'required' },
    login: { mode: 'embedded' },
    takesClientCertificates: false,
  })
  t.same(oauth.keys, { rotateEverySec: 2_592_000 })
  t.match([...oauth.clients][0], {
    profile: 'none',
    assertion_audience: 'issuer',
    tls_client_certificate_bound_access_tokens: false,
    dpop_bound_access_tokens: false,
    require_pushed_authorization_requests: false,
    require_signed_request_object: false,
    introspection_signed_response_alg: 'ES256',
    access_token_signed_response_alg: 'ES256',
    bindToBrowser: true,
  })
  t.equal(clientCertificateHeader, 'none')
  t.same([tls, internal], [undefined, undefined])
})

t.test('a client signs by its own members, and gets answers by the settings of the file for all clients', async t => {
  const edJwks = { keys: [publicJwk('EdDSA')] }
  const { oauth } = await acceptedConfig(t, {
    tokens: { accessToken: { alg: 'PS256' } },
    clients: [
      client({ ...keyed, jwks: edJwks, token_endpoint_auth_signing_alg: 'EdDSA', assertion_audience: 'endpoint' }),
      client({ client_id: 'old', access_token_signed_response_alg: 'RS256' }),
    ],
  })

  const [signer, old] = oauth.clients
  t.match(signer, {
    secrets: [],
    keys: { kind: 'jwks', jwks: edJwks },
    token_endpoint_auth_signing_alg: 'EdDSA',
    assertion_audience: 'endpoint',
    access_token_signed_response_alg: 'PS256',
  })
  t.match(old, { access_token_signed_response_alg: 'RS256', introspection_signed_response_alg: 'PS256' })
})

t.test('the keys of a client may be in a file or at an address', async t => {
  const folder = makeFolder(t)
  const file = join(folder, 'shop.jwks')
  writeFileSync(file, JSON.stringify(jwks))

  const { oauth } = await acceptedConfig(t, {
    clients: [
      client({ ...keyed, jwks: undefined, jwks_file: file }),
      client({ ...keyed, client_id: 'b', jwks: undefined, jwks_uri: 'https://b.example/jwks' }),
    ],
  })

  const [given, fetched] = oauth.clients
  t.same(given?.keys, { kind: 'jwks', jwks })
  t.same(fetched?.keys, { kind: 'uri', uri: 'https://b.example/jwks' })
})

t.test('a problem of keys in a file is reported where the file is named, without the keys', async t => {
  const folder = makeFolder(t)
  const file = join(folder, 'shop.jwks')
  const secret = privateJwk('ES256')
  writeFileSync(file, JSON.stringify({ keys: [secret] }))

  const [problem = ''] = await problemsOf(t, { clients: [client({ ...keyed, jwks: undefined, jwks_file: file })] })

  t.match(problem, /^6:16: clients\[0\]\.jwks: key 1 has the private member d/)
  t.notMatch(problem, String(secret.d))
})

t.test('secrets have their expiry, and the current one comes first', async t => {
  const { oauth } = await acceptedConfig(t, {
    clients: [client({ client_secrets: [{ client_secret: 'old', until: '2027-01-31T13:00:00+01:00' }] })],
  })

  const [registered] = oauth.clients
  const secrets = registered?.secrets ?? []
  t.same(
    secrets.map(({ kind, value, untilMs }) => [kind, value.reveal(), untilMs]),
    [
      ['plain', 'shop-secret', undefined],
      ['plain', 'old', Date.UTC(2027, 0, 31, 12)],
    ],
  )
})

t.test('a certificate is identified by the name that its client registered', async t => {
  const { oauth } = await acceptedConfig(t, {
    tls: { ...tls, clientAuth: 'required' },
    clients: [
      client({
        client_secret: undefined,
        token_endpoint_auth_method: 'tls_client_auth',
        tls_client_auth_san_uri: 'urn:shop',
      }),
    ],
  })

  const [named] = oauth.clients
  t.same(named?.certificateName, { kind: 'san_uri', value: 'urn:shop' })
  t.ok(oauth.takesClientCertificates)
})

t.test('certificates come by TLS, or from trusted proxies in the header that is named', async t => {
  const takes = async (head: Readonly<Record<string, unknown>>): Promise<boolean> =>
    (await acceptedConfig(t, head)).oauth.takesClientCertificates
  const trustedProxies = ['10.0.0.0/8']

  t.notOk(await takes({}))
  t.notOk(await takes({ tls: { ...tls, clientCa_file: undefined } }), 'no client is asked for a certificate')
  t.ok(await takes({ tls: { ...tls, clientAuth: 'optional' } }))
  t.notOk(await takes({ trustedProxies }))
  t.ok(await takes({ trustedProxies, clientCertificateHeader: 'client-cert' }))
})

t.test('the profile switches on every option that it requires, for all clients or for one', async t => {
  const groupings = [{ name: 'G', operations: [{ method: 'POST', path: '/par', serves: 'par' }] }]
  const listen = '127.0.0.1:8080'
  const bound = client({ ...keyed, dpop_bound_access_tokens: true })

  const all = await acceptedConfig(t, { profile: 'fapi2', listen, groupings, clients: [bound] })
  const one = await acceptedConfig(t, {
    listen,
    groupings,
    clients: [{ ...bound, profile: 'fapi2' }, client({ client_id: 'other' })],
  })

  t.equal(all.oauth.profile, 'fapi2')
  t.match([...all.oauth.clients], [{ profile: 'fapi2', require_pushed_authorization_requests: true }])
  t.equal(one.oauth.profile, 'none')
  t.match(
    [...one.oauth.clients],
    [
      { profile: 'fapi2', require_pushed_authorization_requests: true },
      { profile: 'none', require_pushed_authorization_requests: false },
    ],
  )
  t.equal(one.oauth.endpoints.par, 'http://localhost:8080/par')
})

t.test('the signing keys may be in a file, and are not printed', async t => {
  const text = JSON.stringify({ keys: [privateJwk('ES256')] })
  const file = join(makeFolder(t), 'signing.jwks')
  writeFileSync(file, `${text}\n`)

  const { oauth } = await acceptedConfig(t, { keys: { jwks_file: file } })

  t.equal(oauth.keys.jwks?.reveal(), text)
  t.notMatch(JSON.stringify(oauth.keys), /"d"|kty/)
})

t.test('a key signs for as long as the file says', async t => {
  t.equal((await acceptedConfig(t, { keys: { rotateEvery: '7d' } })).oauth.keys.rotateEverySec, 604_800)
})

t.test('a hand-off has the address of the login, and the private listener has its keys or its CA', async t => {
  const listen = '127.0.0.1:9443'
  const login = { mode: 'handoff', url: 'https://login.example.com/' }

  const signed = await acceptedConfig(t, { internal: { listen, jwks }, login })
  const both = await acceptedConfig(t, { internal: { listen, jwks, tls }, login })

  t.same(signed.oauth.login, login)
  t.same(signed.internal, { listen: { host: '127.0.0.1', port: 9443 }, jwks })
  t.match(both.internal?.tls, { clientAuth: 'optional' }, 'a login that signs needs no certificate')
})

t.test('tokens may be asked for what the gateway forwards and what clients introspect for, once each', async t => {
  const read = { ...forwarded, scopes: ['read'] }
  const { oauth } = await acceptedConfig(t, {
    issuer: 'https://auth.example.com/tenant',
    upstreams: { items: { targets: ['http://127.0.0.1:9000'] } },
    groupings: [
      { name: 'OAuth', operations: [token] },
      { name: 'Root', operations: [{ ...forwarded, path: '/root' }] },
      { name: 'Items', basePath: '/items', operations: [read, { ...read, method: 'POST', scopes: ['read', 'write'] }] },
      { name: 'Else', basePath: '/else', resource: 'https://api.example.com/else', operations: [forwarded] },
    ],
    clients: [client({ introspects: ['urn:ledger', 'https://auth.example.com/items'] })],
  })

  const wellKnown = '/.well-known/oauth-protected-resource'
  t.same(oauth.resources, [
    { resource: 'https://auth.example.com', scopes: [], name: 'Root', metadataPath: wellKnown },
    {
      resource: 'https://auth.example.com/items',
      scopes: ['read', 'write'],
      name: 'Items',
      metadataPath: `${wellKnown}/items`,
    },
    { resource: 'https://api.example.com/else', scopes: [], name: 'Else' },
    { resource: 'urn:ledger', scopes: [], name: 'urn:ledger' },
  ])
})

t.test('a resource that is shared has the scopes of all its groupings', async t => {
  const { oauth } = await acceptedConfig(t, {
    upstreams: publishing().upstreams,
    groupings: ['a', 'b'].map(name => ({
      name,
      resource: 'https://api.example.com/',
      operations: [{ ...forwarded, path: `/${name}`, scopes: [name] }],
    })),
  })

  t.same(oauth.resources, [{ resource: 'https://api.example.com/', scopes: ['a', 'b'], name: 'a' }])
})
