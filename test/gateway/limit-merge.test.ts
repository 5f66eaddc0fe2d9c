import t from 'tap'
import { mergeLimits as merge } from '../../src/gateway/forwarding/merge-ratelimit-headers.ts'

const mergeLimits = (theirs: Readonly<Record<string, string>>, own: readonly string[]) =>
  merge(name => theirs[name], own)

/** The gateway's own fields in one of the older forms. */
const ownFields = (prefix: string, remaining: number, reset: number): readonly string[] => [
  'dpop-nonce',
  'n',
  `${prefix}-limit`,
  '100',
  `${prefix}-remaining`,
  String(remaining),
  `${prefix}-reset`,
  String(reset),
]

const triple = (prefix: string) => [`${prefix}-limit`, `${prefix}-remaining`, `${prefix}-reset`]

for (const prefix of ['ratelimit', 'x-ratelimit']) {
  const theirs = (remaining: string, reset = '1') => ({
    [`${prefix}-limit`]: '10',
    [`${prefix}-remaining`]: remaining,
    [`${prefix}-reset`]: reset,
  })

  t.test(`${prefix}: the set with less left goes to the client, whole`, async t => {
    const own = ownFields(prefix, 42, 1)

    t.same(mergeLimits(theirs('41'), own), { dropped: [], own: ['dpop-nonce', 'n'] })
    t.same(mergeLimits(theirs('43'), own), { dropped: triple(prefix), own })
  })

  t.test(`${prefix}: of two with nothing left, the one that is longer to wait for`, async t => {
    const own = ownFields(prefix, 0, 30)

    t.same(mergeLimits(theirs('0', '31'), own), { dropped: [], own: ['dpop-nonce', 'n'] })
    t.same(mergeLimits(theirs('0', '29'), own), { dropped: triple(prefix), own })
  })

  t.test(`${prefix}: what no client could go by is dropped`, async t => {
    const own = ownFields(prefix, 42, 1)
    for (const malformed of ['', 'many', '--1', '1.', '0x1', 'name=a;'])
      t.same(mergeLimits(theirs(malformed), own), { dropped: triple(prefix), own }, malformed)
  })
}

t.test('less than one is nothing left, however it is written', async t => {
  for (const odd of ['0.0', '0.9', '-1', '-0.5'])
    t.same(mergeLimits({ 'ratelimit-remaining': odd }, ownFields('ratelimit', 42, 1))?.own, ['dpop-nonce', 'n'], odd)
})

const named = ['x-ratelimit-limit', 'name=default,100;', 'x-ratelimit-remaining', 'name=default,92;']

t.test("api-connect: an upstream's limits stand beside the gateway's", async t => {
  const theirs = { 'x-ratelimit-limit': 'name=inner,10;', 'x-ratelimit-remaining': 'name=inner,9;' }

  t.same(mergeLimits(theirs, named)?.own, [
    'x-ratelimit-limit',
    'name=inner,10;name=default,100;',
    'x-ratelimit-remaining',
    'name=inner,9;name=default,92;',
  ])
})

t.test('api-connect: of an upstream that writes plain numbers the tighter set is kept', async t => {
  t.same(mergeLimits({ 'x-ratelimit-remaining': '91' }, named)?.own, [])
  t.same(mergeLimits({ 'x-ratelimit-remaining': '93' }, named)?.own, named)
  t.same(mergeLimits({ 'x-ratelimit-remaining': 'name=inner,1;' }, ownFields('x-ratelimit', 2, 1))?.dropped, [])
})

t.test('there is nothing to merge where the upstream has no such field, or the gateway has the IETF form', async t => {
  t.equal(mergeLimits({ 'content-type': 'a/b' }, ownFields('ratelimit', 1, 1)), undefined)
  t.equal(
    mergeLimits({ 'ratelimit-remaining': '1' }, ['ratelimit-policy', '"p";q=1', 'ratelimit', '"p";r=0']),
    undefined,
  )
})
