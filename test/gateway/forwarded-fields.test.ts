import t from 'tap'
import { forwardedLines } from '../../src/gateway/forwarding/forwarded-headers.ts'
import type { ForwardedForm } from '../../src/gateway/options.ts'
import { readFields } from '../http/support/request-context.ts'

interface Way {
  readonly peer?: string
  readonly trustedPeer?: boolean
  readonly isSecure?: boolean
}

/** The forwarded fields that the upstream gets for a request with these fields. */
const added = (form: ForwardedForm, received: Readonly<Record<string, string>>, way: Way = {}): readonly string[] => {
  const fields = readFields(Object.entries(received).flat())
  const lines = forwardedLines({ fields, peer: '203.0.113.9', trustedPeer: false, isSecure: false, ...way }, form)
  return lines.split(/: |\r\n/).slice(0, -1)
}

const forwarded = (received: Readonly<Record<string, string>>, way: Way = {}): string | undefined =>
  added('forwarded', received, way)[1]

t.test('each form has its own fields, and no other', async t => {
  const received = { host: 'api.test' }
  const old = ['X-Forwarded-For', '203.0.113.9', 'X-Forwarded-Proto', 'http', 'X-Forwarded-Host', 'api.test']
  const standard = ['Forwarded', 'for=203.0.113.9;proto=http;host=api.test']

  t.same(added('x-forwarded', received), old)
  t.same(added('forwarded', received), standard)
  t.same(added('both', received), [...old, ...standard])
})

t.test('what is no token stands in quotes (RFC 7239 section 4), IPv6 in brackets besides (section 6)', async t => {
  const cases = [
    [{ host: 'api.test:8443' }, {}, 'for=203.0.113.9;proto=http;host="api.test:8443"'],
    [{ host: '[2001:db8::1]:80' }, {}, 'for=203.0.113.9;proto=http;host="[2001:db8::1]:80"'],
    [{ host: 'a"b\\c' }, {}, 'for=203.0.113.9;proto=http;host="a\\"b\\\\c"'],
    [{ host: 'a;for=1.2.3.4' }, {}, 'for=203.0.113.9;proto=http;host="a;for=1.2.3.4"'],
    [{ host: 'a, for=1.2.3.4' }, {}, 'for=203.0.113.9;proto=http;host="a, for=1.2.3.4"'],
    [{ host: '' }, {}, 'for=203.0.113.9;proto=http;host=""'],
    [{}, {}, 'for=203.0.113.9;proto=http'],
    [{}, { peer: '2001:db8::7' }, 'for="[2001:db8::7]";proto=http'],
    [{}, { peer: '::ffff:192.0.2.1' }, 'for=192.0.2.1;proto=http'],
    [{}, { peer: '' }, 'for=unknown;proto=http'],
    [{}, { isSecure: true }, 'for=203.0.113.9;proto=https'],
  ] as const

  for (const [received, way, expected] of cases) t.equal(forwarded(received, way), expected)
})

t.test('what a stranger says of its way goes no further', async t => {
  const lies = {
    Forwarded: 'for=1.2.3.4;proto=https;host=evil.test',
    'X-Forwarded-For': '1.2.3.4',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'evil.test',
  }

  t.equal(forwarded(lies), 'for=203.0.113.9;proto=http')
  t.same(added('x-forwarded', lies), ['X-Forwarded-For', '203.0.113.9', 'X-Forwarded-Proto', 'http'])
})

t.test('what a trusted peer says stays, and ours comes behind it', async t => {
  const own = 'for=203.0.113.9;proto=http'
  const wellFormed = [
    'for=1.2.3.4',
    'For="[2001:db8::1]:4711"',
    'for=192.0.2.43, for=198.51.100.17;by=203.0.113.60',
    'for="_gaz\\"onk" ; proto=https',
    'for=unknown,for=_hidden',
    'for=1.2.3.4,',
    'for="a, b"',
  ]

  for (const before of wellFormed) t.equal(forwarded({ Forwarded: before }, { trustedPeer: true }), `${before}, ${own}`)
})

t.test('what could be read in two ways is left out, though a trusted peer says it', async t => {
  const malformed = [
    'for="1.2.3.4',
    'for=1.2.3.4"',
    'for="a"b',
    'for=[2001:db8::1]',
    'for',
    'for=',
    'for =1.2.3.4',
    'for=1.2.3.4 proto=http',
    'for="\\',
    '1.2.3.4',
  ]

  for (const before of malformed) {
    t.equal(forwarded({ Forwarded: before }, { trustedPeer: true }), 'for=203.0.113.9;proto=http', before)
  }
})

t.test('the X-Forwarded-* of a trusted peer become elements of Forwarded (RFC 7239 section 7.4)', async t => {
  const own = 'for=203.0.113.9;proto=http'
  const cases = [
    [{ 'X-Forwarded-For': '1.2.3.4' }, 'for=1.2.3.4'],
    [
      { 'X-Forwarded-For': '1.2.3.4, 10.0.0.1', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'api.test' },
      'for=1.2.3.4;proto=https;host=api.test, for=10.0.0.1',
    ],
    [{ 'X-Forwarded-For': '2001:DB8::1, 1.2.3.4:5678' }, 'for="[2001:db8::1]", for=1.2.3.4'],
    [{ 'X-Forwarded-For': 'for=1.2.3.4;proto=x' }, 'for=unknown'],
    [{ 'X-Forwarded-For': '1.2.3.4', Forwarded: 'for=5.6.7.8' }, 'for=5.6.7.8'],
  ] as const

  for (const [received, before] of cases) t.equal(forwarded(received, { trustedPeer: true }), `${before}, ${own}`)
  t.equal(
    forwarded({ 'X-Forwarded-Proto': 'https' }, { trustedPeer: true }),
    own,
    'without an address there is nothing',
  )
})

t.test('in the older form a trusted peer is believed, and ours is added', async t => {
  const received = { host: 'gw.test', 'X-Forwarded-For': '1.2.3.4', 'X-Forwarded-Proto': 'https' }
  const told = ['X-Forwarded-For', '1.2.3.4, 203.0.113.9', 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', 'gw.test']

  t.same(added('x-forwarded', received, { trustedPeer: true }), told)
})
