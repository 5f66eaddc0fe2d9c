import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { acceptedConfig, authorize, client, forwarded, problemsOf, publishing, token } from './support.ts'

t.test('a minimal file is enough, and all other settings have defaults', async t => {
  const config = await acceptedConfig(t, { groupings: [{ name: 'G', operations: [token] }] })

  t.match(config, {
    issuer: 'http://localhost:8080',
    listen: { host: '0.0.0.0', port: 8080 },
    admin: { host: '127.0.0.1', port: 9090 },
    pods: 'auto',
    workerTimeoutMs: 30_000,
    store: { kind: 'sqlite', path: 'data/sidegate.db' },
    trustedProxies: [],
    product: { name: 'oauth', title: 'OAuth', version: '1.0.0' },
    groupings: [{ name: 'G', version: '1.0.0' }],
    loginFailures: { limit: 10, windowSec: 60 },
    loginStarts: { limit: 300, windowSec: 60 },
    shutdown: { delayMs: 5_000, timeoutMs: 25_000 },
  })
  t.same(config.plans, {
    'default-plan': {
      name: 'default-plan',
      title: 'Default Plan',
      rate: { limit: 100, windowSec: 1 },
      algorithm: 'strict',
      burst: undefined,
      burstLimit: undefined,
      quota: undefined,
      mode: 'hard',
      per: 'grouping',
      whenStoreFails: 'local',
      operations: {},
    },
  })
  t.match(config.oauth, {
    accessToken: { format: 'jwt', lifetimeSec: 600, alg: 'ES256' },
    refreshToken: { lifetimeSec: 2_592_000, reuseWindowSec: 10 },
    code: { lifetimeSec: 60 },
    interactionLifetimeSec: 900,
    endpoints: { token: 'http://localhost:8080/token' },
  })
  t.ok(config.workers >= 1)
})

t.test('the default issuer follows the port of listen', async t => {
  const config = await acceptedConfig(t, { listen: '127.0.0.1:8181' })

  t.equal(config.issuer, 'http://localhost:8181')
})

t.test('the result is frozen throughout', async t => {
  const config = await acceptedConfig(t, { ...publishing(token, forwarded), clients: [client()] })

  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  t.ok(isFrozen(config))
})

t.test('secrets are not visible when the result is printed or serialised', async t => {
  const config = await acceptedConfig(t, {
    store: 'redis://user:store-password@redis:6379',
    clients: [client({ client_secret: 'client-password' })],
  })

  const shown = JSON.stringify(config) + inspect(config, { depth: 20 })
  t.notMatch(shown, /store-password|client-password/)
  const [shop] = config.oauth.clients
  t.equal(shop?.secrets[0]?.value.reveal(), 'client-password')
})

t.test('all problems are reported at once, in the order of the file, each with its place', async t => {
  const problems = await problemsOf(
    t,
    `issuer: https://auth.example.com/
lsten: 127.0.0.1:8080
workers: \${NOT_SET}
groupings:
  - name: G
    operations:
      - { method: get, path: /a, serves: token }
      - { method: POST, path: /b, serves: token, scops: [] }
      - { method: POST, path: /b, serves: introspect }
clients:
  - client_id: shop
    grant_types: [password]
    redirect_uri: [https://shop.example.com/]
    plan: gold
`,
  )

  t.same(problems, [
    '1:9: issuer: remove the trailing /; the issuer is compared byte by byte',
    '2:1: lsten: unknown key; did you mean listen?',
    `3:10: workers: the environment variable NOT_SET is not set; set it, or write \${NOT_SET:-default}`,
    '7:19: groupings[0].operations[0].method: must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, in capitals',
    '8:50: groupings[0].operations[1].scops: unknown key; did you mean scopes?',
    '9:31: groupings[0].operations[2].path: POST /b matches the same requests as POST /b of groupings[0].operations[1]; make one of the paths more specific, or remove it',
    '11:5: clients[0].client_secret: missing; set client_secret or client_secret_hash, or token_endpoint_auth_method: none for a public client',
    '12:19: clients[0].grant_types[0]: must be client_credentials, authorization_code or refresh_token; this release has no other',
    '13:5: clients[0].redirect_uri: unknown key; did you mean redirect_uris?',
    '14:11: clients[0].plan: no such plan; known are default-plan',
  ])
})

t.test('a key that is wrong is not also reported by the checks that read it', async t => {
  const problems = await problemsOf(t, { clients: [client({ client_secret: 5 })] })

  t.same(problems, ['3:20: clients[0].client_secret: must be text; put it in quotes'])
})

t.test('a check is skipped only if the field that it reads is wrong', async t => {
  const listen = '127.0.0.1:8080'
  const tokens = { accessToken: { alg: 'HS256' }, code: { lifetime: '61s' } }

  t.match(await problemsOf(t, { profile: 'fapi2', listen, tokens }), [
    /tokens\.accessToken\.alg: must be/,
    /tokens\.code\.lifetime: profile: fapi2 requires codes with a lifetime of at most 60s \(section 5\.3\.2\.2\)/,
  ])
  t.match(await problemsOf(t, { profile: 'fapi2', listen, tokens: { ...tokens, code: { lifetime: '61' } } }), [
    /tokens\.accessToken\.alg: must be/,
    /tokens\.code\.lifetime: must be a duration/,
  ])
})

t.test('a broken value suppresses only the checks that need it', async t => {
  const wrong = { issuer: 'http://auth.example.com', profile: 'fapi2', tokens: { code: { lifetime: '61s' } } }

  t.match(await problemsOf(t, { ...wrong, internal: { listen: 'nowhere' }, keys: { jwks: { keys: [{}] } } }), [
    /issuer: profile: fapi2 requires an https issuer \(section 5\.2\.2\)/,
    /tokens\.code\.lifetime: profile: fapi2 requires codes with a lifetime of at most 60s \(section 5\.3\.2\.2\)/,
    /internal\.listen: must be host:port/,
    /keys\.jwks\.keys\[0\]: key 1 is not a private key/,
  ])
  t.match(await problemsOf(t, { clients: [client({ jwks: { keys: [{}] }, plan: 'gold' })] }), [
    /clients\[0\]\.jwks\.keys\[0\]: key 1 is not a public key/,
    /clients\[0\]\.plan: no such plan/,
  ])
})

t.test('the problem of an unknown key with some words of a known key suggests the known key', async t => {
  t.match(await problemsOf(t, { clients: [client({ auth_method: 'none', secret: 's', dpop: true })] }), [
    /auth_method: unknown key; did you mean token_endpoint_auth_method\?/,
    /secret: unknown key; did you mean client_secret\?/,
    /dpop: unknown key; did you mean dpop_bound_access_tokens\?/,
  ])
  t.match(await problemsOf(t, { clients: [client({ require: true })] }), [
    /require: unknown key; the known keys here are/,
  ])
})

t.test('the problem of an unknown key without a similar one lists the known keys', async t => {
  const [problem = ''] = await problemsOf(t, { shutdown: { grace: '5s' } })

  t.equal(problem, '2:3: shutdown.grace: unknown key; the known keys here are delay, timeout')
})

t.test('a name that every object has is unknown like any other', async t => {
  t.match(await problemsOf(t, 'constructor: 1\n__proto__: { issuer: http://evil.example }\n'), [
    /^1:1: constructor: unknown key/,
    /^2:1: __proto__: unknown key/,
  ])
})

t.test('the problem of a section with the wrong type names the right type', async t => {
  t.same(await problemsOf(t, { clients: { shop: {} }, plans: ['gold'], shutdown: 5 }), [
    '2:3: clients: must be a list',
    '4:3: plans: must be a mapping of keys to values',
    '5:11: shutdown: must be a mapping of keys to values',
  ])
})

t.test('a section without a value counts as missing', async t => {
  t.same(await problemsOf(t, 'clients:\nplans:\ngroupings:\n'), [])
})

t.test('a file that is missing, empty or not a mapping is a problem of its own', async t => {
  const absent = await loadConfig(join(t.testdirName, 'absent.yaml'), {})

  t.match(absent, {
    ok: false,
    problems: [
      {
        line: 1,
        column: 1,
        message: `there is no file ${join(t.testdirName, 'absent.yaml')}; name the configuration with --config FILE`,
      },
    ],
  })
  t.match(await problemsOf(t, ''), [/^1:1: the file is empty/])
  t.match(await problemsOf(t, '- a\n'), [/^1:1: must be a mapping/])
})

t.test('operations have their full path, their credentials and their destination', async t => {
  const config = await acceptedConfig(t, {
    issuer: 'https://auth.example.com/tenant',
    workers: 1,
    groupings: [
      { name: 'O', operations: [token, authorize] },
      {
        name: 'A',
        version: '2.0.0',
        basePath: '/accounts',
        upstream: 'items',
        stripBasePath: true,
        dropHeaders: ['X-Account', 'x.Tenant.ID'],
        operations: [
          { method: 'GET', path: '/', aliases: ['/konten'], scopes: ['read'] },
          { method: 'GET', path: '/health', credentials: 'none' },
        ],
      },
    ],
    upstreams: { items: { targets: ['http://127.0.0.1:9000/'] } },
  })

  const [tokens, authorization, accounts, health] = config.operations
  t.match(tokens, { path: '/token', credentials: 'client', plan: 'client', target: { kind: 'serve', serves: 'token' } })
  t.match(authorization, { credentials: 'none', plan: 'client' })
  t.same(accounts, {
    grouping: 'A',
    version: '2.0.0',
    method: 'GET',
    path: '/accounts',
    aliases: ['/konten'],
    credentials: 'bearer',
    scopes: ['read'],
    plan: 'client',
    target: {
      kind: 'forward',
      upstream: 'items',
      forwardedHeader: 'x-forwarded',
      identity: 'headers',
      stripPrefix: '/accounts',
      forwardAuthorization: false,
      dropHeaders: ['x-account', 'x-tenant-id'],
      maxBodyBytes: 4 * 1024 ** 3,
      resource: 'https://auth.example.com/accounts',
      metadataUrl: 'https://auth.example.com/.well-known/oauth-protected-resource/accounts',
    },
  })
  t.match(health, { path: '/accounts/health', credentials: 'none', plan: 'none' })
  t.same(config.upstreams, [
    {
      name: 'items',
      targets: ['http://127.0.0.1:9000'],
      dnsIntervalMs: 10_000,
      connectTimeoutMs: 5_000,
      headersTimeoutMs: 30_000,
      bodyTimeoutMs: 300_000,
      totalTimeoutMs: 3_600_000,
      webSocketIdleTimeoutMs: 300_000,
      webSocketsOutliveTokens: false,
      eventStreamsOutliveTokens: false,
      maxQueue: 100,
      queueTimeoutMs: 1_000,
      retryBudgetPercent: 20,
      outlierDetection: { failures: 5, timeMs: 10_000, maxTimeMs: 300_000, maxEjectionPercent: 50 },
    },
  ])
})

t.test('discovery names the first operation that serves an endpoint, or the advertised one', async t => {
  const other = { method: 'POST', path: '/other/token', serves: 'token' }

  const first = await acceptedConfig(t, publishing(token, other))
  const advertised = await acceptedConfig(t, publishing(token, { ...other, advertise: true }))

  t.same(first.oauth.endpoints, { token: 'http://localhost:8080/token' })
  t.same(advertised.oauth.endpoints, { token: 'http://localhost:8080/other/token' })
})

t.test('with a store in memory there is one worker unless the file sets another number', async t => {
  const config = await acceptedConfig(t, { store: 'memory:' })

  t.equal(config.workers, 1)
})

t.test('a client gets the only plan, and the defaults of RFC 7591', async t => {
  const registered = { client_id: 'app', client_secret: 's', redirect_uris: ['https://app.example.com/'] }

  const config = await acceptedConfig(t, { ...publishing(authorize), clients: [registered] })

  t.match(config.oauth.clients.find('app'), {
    client_name: 'app',
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'client_secret_basic',
    application_type: 'web',
    pkce: 'required',
    introspects: 'own',
    scope: [],
    plan: 'default-plan',
  })
})
