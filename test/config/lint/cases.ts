import { hashSecret } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import type { Certificates } from '../../support/certificates.ts'
import { privateJwk } from '../keys.ts'
import { type Case, soundClient } from './support.ts'

const strong = 'q0vLZ2m1WcX8sTn4RkBy7PdE'
const withSecret = (client_secret: string, changes: Readonly<Record<string, unknown>> = {}): Case['warned'] => ({
  clients: [{ client_id: 'shop', client_secret, grant_types: ['client_credentials'], ...changes }],
})
const withClient = (changes: Readonly<Record<string, unknown>>): Case['warned'] => ({
  clients: [{ ...soundClient, ...changes }],
})
const env = { SECRET: strong, PASSWORD: 'x', URL: 'rediss://:x@redis' }
const authorize = { method: 'GET', path: '/authorize', serves: 'authorize' }
const withCode = (pkce: string): Case['warned'] => ({
  groupings: [{ name: 'OAuth', operations: [authorize] }],
  ...withClient({ grant_types: ['authorization_code'], redirect_uris: ['https://shop.example/'], pkce }),
})
const withPlan = (whenStoreFails: string, store: string): Case['warned'] => ({
  plans: { gold: { rate: '1/1second', whenStoreFails } },
  store,
})
const sentinels = 'redis+sentinel://127.0.0.1:26379,127.0.0.2:26379/main'
const days = (count: number): number => Date.now() + count * 86_400_000
const forwarding = (grouping: object, operation: object, target: string): Case['warned'] => ({
  groupings: [
    { name: 'Items', ...grouping, operations: [{ method: 'GET', path: '/items', upstream: 'items', ...operation }] },
  ],
  upstreams: { items: { targets: [target] } },
})
const items = { resource: 'https://api.example.com' }
const itemReader = withClient({ scope: 'items:read items:write' })
const oneHash = (cost: string): string => ['scrypt', cost, 'A'.repeat(22), 'A'.repeat(43)].join('$')
const alice = async (password: string): Promise<Case['warned']> => ({
  login: { users: [{ username: 'alice', password_hash: await hashSecret(new Secret(password)) }] },
})
const handoff = (listen: string, certificates: Certificates): Case['warned'] => ({
  login: { mode: 'handoff', url: 'https://login.example.com/' },
  internal: {
    listen,
    tls: {
      cert_file: certificates.server.certFile,
      key_file: certificates.server.keyFile,
      clientCa_file: certificates.ca.certFile,
    },
  },
})
const trafficTls = ({ server }: Certificates): Case['warned'] => ({
  tls: { cert_file: server.certFile, key_file: server.keyFile },
})
const upstreamCa = (ca_file: string): Case['warned'] => ({
  upstreams: { items: { targets: ['https://items.example'], tls: { ca_file } } },
})
const until = (atMs: number): Case['warned'] =>
  withClient({
    client_secret_hash: undefined,
    client_secrets: [{ client_secret_hash: soundClient.client_secret_hash, until: new Date(atMs).toISOString() }],
  })

/** For every rule a configuration with a warning, and a similar one without. */
export const warningCases = async (certificates: Certificates): Promise<readonly Case[]> => [
  {
    rule: 'plain-secret',
    says: 'a secret of a client is not in the file',
    warned: withSecret(strong),
    message: /clients\[0\]\.client_secret: this secret can be read in the file.*client_secret_file/,
    fine: withSecret(`\${SECRET}`),
    place: { env },
  },
  {
    rule: 'plain-secret',
    says: 'the password of a Redis is not in the file',
    warned: { store: 'rediss://sidegate:hunter2@redis.example' },
    message: /store: this secret can be read in the file.*store_file/,
    fine: { store: `rediss://sidegate:\${PASSWORD}@redis.example` },
    place: { env },
  },
  {
    rule: 'plain-secret',
    says: 'the password of the Sentinels is not in the file',
    warned: { store: `rediss+sentinel://:\${PASSWORD}@redis.example/main?sentinel_password=hunter2` },
    message: /store: this secret can be read in the file/,
    fine: { store: `rediss+sentinel://:\${PASSWORD}@redis.example/main?sentinel_password=\${PASSWORD}` },
    place: { env },
  },
  {
    rule: 'plain-secret',
    says: 'private keys are not in the file',
    warned: { keys: { jwks: { keys: [privateJwk('ES256')] } } },
    message: /keys\.jwks: this secret can be read in the file.*jwks_file/,
    fine: { keys: { jwks: `\${KEYS}` } },
    place: { env: { KEYS: JSON.stringify({ keys: [privateJwk('ES256')] }) } },
  },
  {
    rule: 'plain-secret',
    says: 'the further secrets of a client are not in the file',
    warned: withClient({ client_secrets: [{ client_secret: strong }] }),
    message: /clients\[0\]\.client_secrets\[0\]\.client_secret: this secret can be read in the file/,
    fine: withClient({ client_secrets: [{ client_secret: `\${SECRET}` }] }),
    place: { env },
  },
  {
    rule: 'secret-default',
    says: 'a variable for a secret has no default',
    warned: withSecret(`\${SECRET:-${strong}}`),
    message: /clients\[0\]\.client_secret: the default after :- is used as the secret if the variable is not set/,
    fine: withSecret(`\${SECRET:-}`),
    place: { env },
  },
  {
    rule: 'secret-default',
    says: 'a variable for an address with a password has no default',
    warned: { store: `\${URL:-rediss://:hunter2@redis.example}` },
    message: /store: the default after :- is used as the secret if the variable is not set/,
    fine: { store: `\${URL:-rediss://redis.example}` },
    place: { env },
  },
  {
    rule: 'known-secret',
    says: 'the secrets of the samples are only for trials',
    warned: withSecret(`\${SECRET}`),
    message: /clients\[0\]\.client_secret: this secret is published in the samples of Sidegate/,
    fine: withSecret(`\${SECRET}`),
    place: { env: { SECRET: 'demo-secret' } },
    finePlace: { env },
  },
  {
    rule: 'known-secret',
    says: 'the user of the samples is only for trials',
    warned: await alice('wonderland'),
    message: /login\.users\[0\]\.password_hash: this user's password is published in the samples of Sidegate/,
    fine: await alice('looking-glass'),
  },
  {
    rule: 'short-secret',
    says: 'a secret is long',
    warned: withSecret(`\${SECRET}`),
    message:
      /clients\[0\]\.client_secret: can be guessed: a secret has 22 or more different characters \(RFC 6749 section 10\.10\)/,
    fine: withSecret(`\${SECRET}`),
    place: { env: { SECRET: strong.slice(0, 21) } },
    finePlace: { env: { SECRET: strong.slice(0, 22) } },
  },
  {
    rule: 'short-secret',
    says: 'a secret has many different characters',
    warned: withSecret(`\${SECRET}`),
    message: /clients\[0\]\.client_secret: can be guessed/,
    fine: withSecret(`\${SECRET}`),
    place: { env: { SECRET: '1234567'.repeat(5) } },
    finePlace: { env: { SECRET: '12345678'.repeat(5) } },
  },
  {
    rule: 'weak-hash',
    says: 'a hash takes time to compute',
    warned: withClient({ client_secret_hash: oneHash('ln=14,r=8,p=1') }),
    message: /clients\[0\]\.client_secret_hash: this kind of hash is too fast for a secret that a person chose/,
    fine: withClient({ client_secret_hash: oneHash('ln=15,r=8,p=1') }),
  },
  {
    rule: 'weak-hash',
    says: 'the hash of a password always takes time to compute',
    warned: { login: { users: [{ username: 'bob', password_hash: soundClient.client_secret_hash }] } },
    message: /login\.users\[0\]\.password_hash: this kind of hash is too fast for a secret that a person chose/,
    fine: { login: { users: [{ username: 'bob', password_hash: oneHash('ln=15,r=8,p=1') }] } },
  },
  {
    rule: 'expiring-secret',
    says: 'a client has a secret for the next two weeks',
    warned: until(days(13)),
    message: /clients\[0\]\.client_secrets\[0\]\.until: all secrets of this client expire within 14 days/,
    fine: until(days(15)),
  },
  {
    rule: 'http-issuer',
    says: 'an issuer is reached by TLS',
    warned: { issuer: 'http://auth.example.com' },
    message: /issuer: issuer: tokens and secrets are sent to it unencrypted/,
    fine: {},
  },
  {
    rule: 'local-issuer',
    says: 'callers from elsewhere can reach the issuer',
    warned: { issuer: 'http://localhost:8080' },
    message: /issuer: issuer: is reachable only from this machine, while listen accepts other hosts/,
    fine: { issuer: 'http://localhost:8080', listen: '127.0.0.1:8080' },
  },
  {
    rule: 'local-issuer',
    says: 'this machine has more than one spelling',
    warned: { issuer: 'http://[::ffff:7f00:1]:8080' },
    message: /issuer: issuer: is reachable only from this machine, while listen accepts other hosts/,
    fine: { issuer: 'http://[::ffff:7f00:1]:8080', listen: '[::ffff:127.0.0.1]:8080' },
  },
  {
    rule: 'admin-open',
    says: 'the admin port is for few hosts',
    warned: { admin: '[::]:9090' },
    message: /admin: every host that can reach this port can read the metrics without authentication/,
    fine: { admin: '10.0.7.1:9090' },
  },
  ...['[::0]', '[0:0:0:0:0:0:0:0]', '[::ffff:0.0.0.0]', '[::%eth0]', '0x0'].map(host => ({
    rule: 'admin-open' as const,
    says: `the admin port is for few hosts, and ${host} is open to every host`,
    warned: { admin: `${host}:9090` },
    message: /admin: every host that can reach this port can read the metrics without authentication/,
    fine: { admin: '[::ffff:127.0.0.1]:9090' },
  })),
  {
    rule: 'internal-open',
    says: 'the private listener is for the login',
    warned: handoff('0.0.0.0:9443', certificates),
    message: /internal\.listen: over this port your login reports which user signed in/,
    fine: handoff('10.0.7.1:9443', certificates),
  },
  {
    rule: 'internal-open',
    says: 'the private listener is only for the login, however the address of all interfaces is written',
    warned: handoff('[::0]:9443', certificates),
    message: /internal\.listen: over this port your login reports which user signed in/,
    fine: handoff('[fd00::1]:9443', certificates),
  },
  {
    rule: 'unnamed-proxy',
    says: 'a proxy that ends TLS is named',
    warned: { trustedProxies: [] },
    message:
      /trustedProxies: TLS is terminated by a proxy in front that is not named, so all callers share one address in the limits of failed authentications and sign-ins/,
    fine: { trustedProxies: [], ...trafficTls(certificates) },
  },
  {
    rule: 'wide-proxies',
    says: 'a trusted network contains few hosts',
    warned: { trustedProxies: ['10.1.0.0/15'] },
    message: /trustedProxies\[0\]: every host in it may claim any address and certificate/,
    fine: { trustedProxies: ['10.1.0.0/16', 'fd00:1:2::/48'] },
  },
  {
    rule: 'memory-store',
    says: 'tokens and keys are kept over a restart',
    warned: { store: 'memory:' },
    message: /store: tokens and signing keys are lost at every restart/,
    fine: { store: 'sqlite:data/sidegate.db' },
  },
  {
    rule: 'store-per-pod',
    says: 'pods share their store',
    warned: { store: 'sqlite:data/sidegate.db', pods: 2 },
    message: /store: each pod has its own/,
    fine: { store: 'sqlite:data/sidegate.db', pods: 1 },
  },
  {
    rule: 'plain-redis',
    says: 'a Redis on another host is reached by TLS',
    warned: { store: `redis://:\${PASSWORD}@redis.example` },
    message: /store: what is kept goes over the network in clear/,
    fine: { store: `redis://:\${PASSWORD}@127.0.0.1` },
    place: { env },
  },
  {
    rule: 'redis-without-password',
    says: 'a Redis on another host asks for a password',
    warned: { store: 'rediss://redis.example' },
    message: /store: every host that can reach this Redis can read keys and tokens/,
    fine: { store: 'redis://localhost' },
  },
  {
    rule: 'closed-with-one-redis',
    says: 'a plan that refuses all requests without the store needs more than one Redis',
    warned: withPlan('closed', 'redis://127.0.0.1'),
    message: /plans\.gold\.whenStoreFails: with a single Redis every request is refused/,
    fine: withPlan('closed', sentinels),
  },
  {
    rule: 'open-plan',
    says: 'plans limit requests even without the store',
    warned: withPlan('open', sentinels),
    message: /plans\.gold\.whenStoreFails: no request is limited while the store is unavailable/,
    fine: withPlan('local', sentinels),
  },
  {
    rule: 'long-access-token',
    says: 'an access token is for an hour at most',
    warned: { tokens: { accessToken: { lifetime: '3601s' } } },
    message: /tokens\.accessToken\.lifetime: a stolen token can be used for so long/,
    fine: { tokens: { accessToken: { lifetime: '1h' } } },
  },
  {
    rule: 'optional-pkce',
    says: 'a code is bound to the client that asked for it',
    warned: withCode('optional'),
    message: /clients\[0\]\.pkce: a code that was stolen in transit can be redeemed without PKCE/,
    fine: withCode('required'),
  },
  {
    rule: 'weak-signature',
    says: 'RS256 is for clients that support no better algorithm',
    warned: withClient({ access_token_signed_response_alg: 'RS256' }),
    message: /clients\[0\]\.access_token_signed_response_alg: RS256 is for clients that support no better algorithm/,
    fine: withClient({ access_token_signed_response_alg: 'PS256' }),
  },
  {
    rule: 'plain-upstream',
    says: 'tokens are not sent in clear',
    warned: forwarding(items, { forwardAuthorization: true }, 'http://items.example'),
    message: /upstreams\.items\.targets\[0\]: tokens of callers go there in clear/,
    fine: forwarding(items, { forwardAuthorization: true }, 'https://items.example'),
  },
  {
    rule: 'shared-audience',
    says: 'a token can be asked for one grouping',
    warned: forwarding({}, {}, 'http://127.0.0.1:9000'),
    message: /groupings\[0\]\.resource: without resource and basePath/,
    fine: forwarding({ basePath: '/shop' }, {}, 'http://127.0.0.1:9000'),
  },
  {
    rule: 'query-credentials',
    says: 'secrets are not in a URL',
    warned: forwarding(items, { credentials: 'query' }, 'http://127.0.0.1:9000'),
    message:
      /groupings\[0\]\.operations\[0\]\.credentials: the secret is part of the URL, which proxies and browsers record \(RFC 6749 section 2\.3\.1\)/,
    fine: forwarding(items, { credentials: 'bearer' }, 'http://127.0.0.1:9000'),
  },
  {
    rule: 'expiring-certificate',
    says: 'the certificate of the listener is renewed in time',
    warned: { trustedProxies: [], ...trafficTls(certificates) },
    message: /tls\.cert_file: ends at 20/,
    fine: { trustedProxies: [], ...trafficTls(certificates) },
    place: { nowMs: days(21) },
    finePlace: { nowMs: days(19) },
  },
  {
    rule: 'expiring-certificate',
    says: 'the CA of an upstream has not expired',
    warned: upstreamCa(certificates.issue('old', { days: -1 }).certFile),
    message: /upstreams\.items\.tls\.ca_file: ends at 20/,
    fine: upstreamCa(certificates.ca.certFile),
  },
  {
    rule: 'weak-key',
    says: 'the CA of an upstream has a long key',
    warned: upstreamCa(certificates.issueSelfSigned('short', { newKey: 'rsa:1024' }).certFile),
    message: /upstreams\.items\.tls\.ca_file: holds a certificate with an RSA key of less than 2048 bits/,
    fine: upstreamCa(certificates.issueSelfSigned('long', { newKey: 'rsa:2048' }).certFile),
  },
  {
    rule: 'unheld-scope',
    says: 'a client of the file has the scope that an operation requires',
    warned: { ...forwarding(items, { scopes: ['items:read', 'item:write'] }, 'https://items'), ...itemReader },
    message: /operations\[0\]\.scopes\[1\]: no client of the file has the scope item:write/,
    fine: { ...forwarding(items, { scopes: ['items:read', 'items:write'] }, 'https://items'), ...itemReader },
  },
  {
    rule: 'unheld-scope',
    says: 'the scopes of clients are unknown if all clients are in the store',
    warned: { ...forwarding(items, { scopes: ['items:delete'] }, 'https://items'), ...itemReader },
    message: /has the scope items:delete/,
    fine: { ...forwarding(items, { scopes: ['items:delete'] }, 'https://items'), clients: [] },
  },
  {
    rule: 'drain-outlasts-grace',
    says: 'a drain ends before the process is killed',
    warned: { shutdown: { delay: '5s', timeout: '25s' } },
    message:
      /shutdown\.timeout: a delay of 5 s and a timeout of 25 s together are not shorter than the 30 s .*; write timeout: 24s/,
    fine: { shutdown: { delay: '5s', timeout: '25s' } },
    finePlace: { graceMs: 31_000 },
  },
  {
    rule: 'drain-outlasts-grace',
    says: 'a drain by the defaults ends before the process is killed',
    warned: { shutdown: undefined },
    message:
      /1:1: drain-outlasts-grace: shutdown is not set, and by default a delay of 5 s .*; write timeout: 24s under shutdown/,
    fine: { shutdown: { timeout: '24s' } },
  },
  {
    rule: 'drain-outlasts-grace',
    says: 'the delay alone ends before the process is killed',
    warned: { shutdown: { delay: '30s' } },
    message: /shutdown\.delay: a delay of 30 s .*; make both shorter, or extend that time/,
    fine: { shutdown: { delay: '3s' } },
  },
  {
    rule: 'unverified-tls',
    says: 'certificates are verified',
    warned: {},
    message:
      /1:1: unverified-tls: NODE_TLS_REJECT_UNAUTHORIZED=0 lets an attacker impersonate Redis and the servers of key sets/,
    fine: {},
    place: { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    finePlace: { env: { NODE_TLS_REJECT_UNAUTHORIZED: '1' } },
  },
]
