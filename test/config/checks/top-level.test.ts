import t from 'tap'
import { holdsEach } from '../cases.ts'

holdsEach(t, [
  {
    says: 'an issuer is an http or https URL',
    refused: { issuer: 'auth.example.com' },
    message: /^1:9: issuer: must be an http or https URL/,
    accepted: { issuer: 'https://auth.example.com' },
  },
  {
    says: 'an issuer has no query',
    refused: { issuer: 'https://auth.example.com/a?b' },
    message: /no query and no fragment/,
    accepted: { issuer: 'https://auth.example.com/a' },
  },
  {
    says: 'an issuer has no trailing slash',
    refused: { issuer: 'https://auth.example.com/' },
    message: /remove the trailing \//,
    accepted: { issuer: 'https://auth.example.com' },
  },
  {
    says: 'an issuer names no user',
    refused: { issuer: 'https://me@auth.example.com' },
    message: /an issuer has no user information/,
    accepted: { issuer: 'https://auth.example.com' },
  },
  {
    says: 'an issuer is spelt as URL parsers spell it',
    refused: { issuer: 'https://Auth.example.com:443' },
    message: /must be in the form that URL parsers produce: https:\/\/auth\.example\.com/,
    accepted: { issuer: 'https://auth.example.com:8443' },
  },
  {
    says: 'listen is host:port',
    refused: { listen: '127.0.0.1' },
    message: /listen: must be host:port/,
    accepted: { listen: '[::]:8080' },
  },
  {
    says: 'a port is at most 65535',
    refused: { listen: '127.0.0.1:65536' },
    message: /listen: must be host:port/,
    accepted: { listen: '127.0.0.1:65535' },
  },
  {
    says: 'an IPv4 address has four bytes',
    refused: { listen: '127.0.0.256:8080' },
    message: /listen: must be host:port/,
    accepted: { listen: 'localhost:8080' },
  },
  {
    says: 'a store in memory serves one worker',
    refused: { store: 'memory:', workers: 2 },
    message: /^2:10: workers: memory: is not shared/,
    accepted: { store: 'memory:', workers: 1 },
  },
  {
    says: 'there is at least one worker',
    refused: { workers: 0 },
    message: /workers: must be auto or a whole number from 1/,
    accepted: { workers: 1 },
  },
  {
    says: 'pods are auto or a number',
    refused: { pods: 'many' },
    message: /pods: must be auto or a whole number/,
    accepted: { pods: 3 },
  },
  {
    says: 'a store is one of four kinds',
    refused: { store: 'postgres://db' },
    message: /store: a store is one of memory:/,
    accepted: { store: 'redis+cluster://a:6379,b:6379' },
  },
  {
    says: 'the TLS files of a Redis are there',
    refused: { store: 'rediss://a:6379?ca_file=/nothing/secret.pem' },
    message: /store: ca_file of the Redis address cannot be read \(ENOENT\)$/,
    accepted: { store: 'rediss://a:6379' },
  },
  {
    says: 'TLS files of a Redis go with TLS',
    refused: { store: 'redis://a:6379?ca_file=ca.pem' },
    message: /store: ca_file of a Redis address goes with rediss:/,
    accepted: { store: 'redis://a:6379?prefix=shop:' },
  },
  {
    says: 'a trusted proxy is an address or a network',
    refused: { trustedProxies: ['10.0.0.0/33'] },
    message: /trustedProxies\[0\]: must be an address or a network/,
    accepted: { trustedProxies: ['10.0.0.0/32', '127.0.0.1', 'fd00::/128'] },
  },
  ...(
    [
      ['0.0.0.0/0', '0.0.0.0/8'],
      ['128.0.0.0/7', '128.0.0.0/8'],
      ['::/0', '::1'],
      ['2000::/23', '2000::/24'],
      ['fc::/7', 'fc00::/7'],
      ['fc00::/6', 'fd00::/8'],
      // All of IPv4, and what is around it.
      ['::ffff:0:0/96', '::ffff:10.0.0.0/104'],
      ['::/80', '::/81'],
    ] as const
  ).map(([wide, narrow]) => ({
    says: `a trusted proxy is in ${narrow}, but not anywhere in ${wide}`,
    refused: { trustedProxies: ['127.0.0.1', wide] },
    message: /trustedProxies\[1\]: is too wide: every host in it may claim any address and certificate/,
    accepted: { trustedProxies: ['127.0.0.1', narrow] },
  })),
  {
    says: 'a range of all addresses is one problem, although with it every host could also name the certificate of a client',
    refused: { trustedProxies: ['::/0'], clientCertificateHeader: 'client-cert' },
    message: /trustedProxies\[0\]: is too wide/,
    accepted: { trustedProxies: ['::1'], clientCertificateHeader: 'client-cert' },
  },
  {
    says: 'a duration has a unit',
    refused: { shutdown: { delay: '5' } },
    message: /shutdown\.delay: must be a duration/,
    accepted: { shutdown: { delay: '5s' } },
  },
  {
    says: 'a lifetime is in whole seconds',
    refused: { tokens: { code: { lifetime: '500ms' } } },
    message: /tokens\.code\.lifetime: must be a duration in whole seconds/,
    accepted: { tokens: { code: { lifetime: '1s' } } },
  },
  {
    says: 'a code lives ten minutes at most',
    refused: { tokens: { code: { lifetime: '601s' } } },
    message: /tokens\.code\.lifetime: .*1s to 600s/,
    accepted: { tokens: { code: { lifetime: '10m' } } },
  },
  {
    says: 'a pushed request lives less than ten minutes',
    refused: { tokens: { par: { lifetime: '600s' } } },
    message: /tokens\.par\.lifetime: .*1s to 599s/,
    accepted: { tokens: { par: { lifetime: '599s' } } },
  },
  {
    says: 'access tokens are signed with one of three algorithms',
    refused: { tokens: { accessToken: { alg: 'ES384' } } },
    message: /alg: must be ES256, PS256 or EdDSA/,
    accepted: { tokens: { accessToken: { alg: 'PS256' } } },
  },
  {
    says: 'RS256 is for old clients by name',
    refused: { tokens: { accessToken: { alg: 'RS256' } } },
    message: /alg: must be ES256, PS256 or EdDSA/,
    accepted: { tokens: { accessToken: { alg: 'EdDSA' } } },
  },
  {
    says: 'nonces of proofs are required or optional',
    refused: { tokens: { dpop: { nonce: 'none' } } },
    message: /tokens\.dpop\.nonce: must be required or optional/,
    accepted: { tokens: { dpop: { nonce: 'optional' } } },
  },
  {
    says: 'a profile is fapi2 or none',
    refused: { profile: 'fapi1' },
    message: /profile: must be none or fapi2/,
    accepted: { profile: 'fapi2', issuer: 'https://auth.example.com' },
  },
  {
    says: 'failures are a rate',
    refused: { login: { failures: '10 per minute' } },
    message:
      /login\.failures: must be requests per period, such as 100\/1second or 5000\/2hours \(second, minute, hour or day\)/,
    accepted: { login: { failures: '10/1minute' } },
  },
])
