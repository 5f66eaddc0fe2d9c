import { inspect } from 'node:util'
import t from 'tap'
import { parseRedisAddress, parseStoreUrl } from '../../src/stores/store-url.ts'

t.test('each form of a store is understood', async t => {
  t.same(parseStoreUrl('memory:'), { kind: 'memory' })
  t.same(parseStoreUrl('sqlite:data/sidegate.db'), { kind: 'sqlite', path: 'data/sidegate.db' })
  t.same(parseStoreUrl('sqlite:/var/lib/sidegate.db'), { kind: 'sqlite', path: '/var/lib/sidegate.db' })
})

const single = { tls: false, database: 0, sentinelName: '' }
const addresses = [
  ['redis://cache', 'single', { ...single, hosts: [{ host: 'cache', port: 6379 }] }],
  ['redis://cache:7000/3', 'single', { ...single, hosts: [{ host: 'cache', port: 7000 }], database: 3 }],
  ['rediss://[::1]:7000/', 'single', { ...single, hosts: [{ host: '::1', port: 7000 }], tls: true }],
  [
    'redis://me:p%40ss%2F@cache',
    'single',
    { ...single, hosts: [{ host: 'cache', port: 6379 }], username: 'me', password: 'p@ss/' },
  ],
  ['redis://:pass@cache', 'single', { ...single, hosts: [{ host: 'cache', port: 6379 }], password: 'pass' }],
  [
    'redis+sentinel://a:26379,b:26380/main',
    'sentinel',
    {
      ...single,
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26380 },
      ],
      sentinelName: 'main',
    },
  ],
  [
    'redis+cluster://a:1,b:2',
    'cluster',
    {
      ...single,
      hosts: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    },
  ],
] as const

for (const [text, mode, address] of addresses) {
  t.test(`${text} leads where it says`, async t => {
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
])
  t.test(`"${text}" is a problem, told without repeating a password`, async t => {
    const parsed = parseStoreUrl(text)

    t.match(parsed, { problem: /./ })
    t.notMatch(JSON.stringify(parsed), /secret/)
  })

t.test('the address of a Redis shows nowhere', async t => {
  const url = parseStoreUrl('redis://:hunter2@cache')

  t.notMatch(inspect(url, { depth: 9, showHidden: true }) + JSON.stringify(url), /hunter2/)
})
