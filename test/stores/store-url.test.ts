import { inspect } from 'node:util'
import t from 'tap'
import { parseRedisAddress, parseStoreUrl } from '../../src/stores/store-url.ts'

t.test('each form of the address of a store is parsed', async t => {
  t.same(parseStoreUrl('memory:'), { kind: 'memory' })
  t.same(parseStoreUrl('sqlite:data/sidegate.db'), { kind: 'sqlite', path: 'data/sidegate.db' })
  t.same(parseStoreUrl('sqlite:/var/lib/sidegate.db'), { kind: 'sqlite', path: '/var/lib/sidegate.db' })
})

const cache = { host: 'cache', port: 6379 }
const plain = { login: {}, database: 0, sentinelName: '', sentinelLogin: {}, prefix: 'sidegate:' }
const sentinels = {
  hosts: [
    { host: 'a', port: 26379 },
    { host: 'b', port: 26380 },
  ],
  sentinelName: 'main',
}
const nodes = {
  hosts: [
    { host: 'a', port: 1 },
    { host: 'b', port: 2 },
  ],
}
const addresses = [
  ['redis://cache', 'single', { ...plain, hosts: [cache] }],
  ['redis://cache:7000/3', 'single', { ...plain, hosts: [{ host: 'cache', port: 7000 }], database: 3 }],
  ['rediss://[::1]:7000/', 'single', { ...plain, hosts: [{ host: '::1', port: 7000 }], tls: {} }],
  ['redis://me:p%40ss%2F@cache', 'single', { ...plain, hosts: [cache], login: { username: 'me', password: 'p@ss/' } }],
  ['redis://:pass@cache', 'single', { ...plain, hosts: [cache], login: { password: 'pass' } }],
  ['redis://cache?prefix=shop.eu-1:', 'single', { ...plain, hosts: [cache], prefix: 'shop.eu-1:' }],
  ['redis://cache/3?prefix=a', 'single', { ...plain, hosts: [cache], database: 3, prefix: 'a' }],
  [
    'rediss://cache?ca_file=a%20b/ca.pem&cert_file=c.pem&key_file=k.pem&servername=redis.example',
    'single',
    {
      ...plain,
      hosts: [cache],
      tls: { caFile: 'a b/ca.pem', certFile: 'c.pem', keyFile: 'k.pem', servername: 'redis.example' },
    },
  ],
  ['redis+sentinel://a:26379,b:26380/main', 'sentinel', { ...plain, ...sentinels }],
  [
    'rediss+sentinel://me:pass@a:26379,b:26380/main?sentinel_username=guide&sentinel_password=p%26%2B+=s',
    'sentinel',
    {
      ...plain,
      ...sentinels,
      tls: {},
      login: { username: 'me', password: 'pass' },
      sentinelLogin: { username: 'guide', password: 'p&++=s' },
    },
  ],
  ['redis+cluster://a:1,b:2', 'cluster', { ...plain, ...nodes }],
  ['rediss+cluster://a:1,b:2?ca_file=ca.pem', 'cluster', { ...plain, ...nodes, tls: { caFile: 'ca.pem' } }],
] as const

for (const [text, mode, address] of addresses) {
  t.test(`${text} is parsed`, async t => {
    const url = parseStoreUrl(text)
    if ('problem' in url || url.kind !== 'redis') throw new Error('this is the address of a Redis')

    t.equal(url.mode, mode)
    t.same(parseRedisAddress(url), address)
  })
}

for (const text of [
  '',
  'memory',
  'sqlite:',
  'sqlite://data/sidegate.db',
  'http://cache',
  'redis:cache',
  'redis://',
  'redis://:secret@',
  'redis://cache:0',
  'redis://cache:65536',
  'redis://cache:port',
  'redis://cache/name',
  'redis://a,b',
  'redis://%zz:secret@cache',
  'redis+sentinel://a:26379',
  'redis+cluster://a:1/name',
  'redis+other://a',
  'redisss://a',
  'redis+sentinel+cluster://a',
  'redis://cache?',
  'redis://cache?prefix',
  'redis://cache?prefix=',
  'redis://cache?prefix={a}',
  'redis://cache?prefix=%zz',
  'redis://cache?prefix=a&prefix=a',
  'redis://cache?secret=1',
  'redis://cache?ca_file=ca.pem',
  'redis://cache?servername=secret',
  'rediss://cache?cert_file=secret.pem',
  'rediss://cache?key_file=secret.pem',
  'redis://cache?sentinel_password=secret',
  'redis+cluster://a:1?sentinel_password=secret',
  'redis+sentinel://a/main?sentinel_username=secret',
])
  t.test(`the problem of "${text}" does not repeat a password`, async t => {
    const parsed = parseStoreUrl(text)

    t.match(parsed, { problem: /./ })
    t.notMatch(JSON.stringify(parsed), /secret/)
  })

t.test('the address of a Redis does not appear when the value is printed or serialised', async t => {
  const url = parseStoreUrl('redis://:hunter2@cache')

  t.notMatch(inspect(url, { depth: 9, showHidden: true }) + JSON.stringify(url), /hunter2/)
})
