import t from 'tap'
import { InvalidMessageError, type InvalidMessageReason } from '../../../src/http/message/invalid-message.ts'
import { checkIncompleteHead, fieldValues, parseRequestHead } from '../../../src/http/server/request-parser.ts'

const maxFields = 100

/** A head of `GET / HTTP/1.1` with a Host and these lines. */
const head = (...lines: readonly string[]): string => ['GET / HTTP/1.1', 'Host: gw.test', ...lines].join('\r\n')

const reasonOf = (parse: () => unknown): InvalidMessageReason | 'none' => {
  try {
    parse()
    return 'none'
  } catch (error) {
    if (error instanceof InvalidMessageError) return error.reason
    throw error
  }
}

const refused: readonly (readonly [text: string, reason: InvalidMessageReason])[] = [
  ['GET /', 'bad-request-line'],
  ['GET  / HTTP/1.1', 'bad-request-line'],
  ['GET /  HTTP/1.1', 'bad-request-line'],
  ['GET / HTTP/1.1 ', 'bad-request-line'],
  [' GET / HTTP/1.1', 'bad-request-line'],
  ['G(T / HTTP/1.1', 'bad-request-line'],
  ['GET / HTTP/1.2', 'bad-version'],
  ['GET / HTTP/2.0', 'bad-version'],
  ['GET / http/1.1', 'bad-version'],
  ['get / HTTP/1.1', 'unknown-method'],
  ['FOOBAR / HTTP/1.1', 'unknown-method'],
  ['CONNECT gw.test:443 HTTP/1.1', 'unknown-method'],
  ['GET http://gw.test/ HTTP/1.1', 'bad-target'],
  ['GET * HTTP/1.1', 'bad-target'],
  ['GET ?a HTTP/1.1', 'bad-target'],
  ['GET /\xe9 HTTP/1.1', 'bad-target'],
  ['GET / HTTP/1.1', 'missing-host'],
  [head('Host: gw.test'), 'two-hosts'],
  ['GET / HTTP/1.1\r\nHost: a b', 'bad-host'],
  ['GET / HTTP/1.1\r\nHost: gw.test:port', 'bad-host'],
  ['GET / HTTP/1.0\r\nHost: gw.test/evil', 'bad-host'],
  [head('X-A: 1\n'), 'bare-cr-or-lf'],
  [head('X-A: 1\rX-B: 2'), 'bare-cr-or-lf'],
  [head('X-A: 1\0'), 'control-byte'],
  [head('X-A: 1\x7f'), 'control-byte'],
  [head('X-A: 1', ' more'), 'obs-fold'],
  [head('X-A: 1', '\tX-B: 2'), 'obs-fold'],
  [head('X-A'), 'not-a-field'],
  [head(': 1'), 'bad-field-name'],
  [head('X-A : 1'), 'bad-field-name'],
  [head('X-\xc4: 1'), 'bad-field-name'],
  [head(...Array.from({ length: maxFields }, () => 'a: b')), 'too-many-fields'],
  [head('Content-Length: 5', 'Content-Length: 5'), 'two-lengths'],
  [head('Content-Length: 5', 'Content-Length:'), 'two-lengths'],
  [head('Content-Length: +5'), 'bad-length'],
  [head('Content-Length:'), 'bad-length'],
  [head('Content-Length: 5', 'Transfer-Encoding: chunked'), 'length-and-coding'],
  [head('Transfer-Encoding: gzip, chunked'), 'bad-coding'],
  [head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), 'bad-coding'],
  ['POST / HTTP/1.0\r\nTransfer-Encoding: chunked', 'coding-in-http-1.0'],
]

t.test('a head that two readers could understand differently is refused with its reason', async t => {
  for (const [text, reason] of refused) {
    t.equal(
      reasonOf(() => parseRequestHead(text, maxFields)),
      reason,
      JSON.stringify(text.slice(0, 60)),
    )
  }
})

t.test('a good head is read, with what frames the body and whether the connection persists', async t => {
  t.match(parseRequestHead('OPTIONS * HTTP/1.1\r\nHost:', maxFields), { method: 'OPTIONS', target: '*' })
  t.match(parseRequestHead('GET / HTTP/1.0', maxFields), {
    versionMinor: 0,
    framing: { by: 'nothing' },
    isPersistent: false,
  })
  t.match(parseRequestHead(head('Content-Length: \t05 '), maxFields), {
    framing: { by: 'length', bytes: 5 },
    isPersistent: true,
    asksForWebSocket: false,
  })
  t.match(parseRequestHead(head('transfer-encoding: CHUNKED', 'Connection: Close'), maxFields), {
    framing: { by: 'chunks' },
    isPersistent: false,
  })
  t.match(parseRequestHead(head('Connection: keep-alive, Upgrade', 'Upgrade: WebSocket'), maxFields), {
    asksForWebSocket: true,
  })
})

t.test('all values of a field are found in their order, whatever the case of its name', async t => {
  const parsed = parseRequestHead(head('X-Own: 1', 'x-own:\t2 ', 'X-Owner: 3', 'X-OWN:'), maxFields)

  t.same(fieldValues(parsed, 'x-own'), ['1', '2', ''])
  t.same(fieldValues(parsed, 'x-none'), [])
})

t.test('every beginning of a good head is waited for', async t => {
  const whole = `${head('X-A: 1', 'Content-Length: 5')}\r\n\r`
  for (let end = 0; end <= whole.length; end++) {
    t.equal(
      reasonOf(() => checkIncompleteHead(whole.slice(0, end))),
      'none',
      `${end}`,
    )
  }
})

t.test('a beginning that can become no request is refused at once', async t => {
  for (const [text, reason] of [
    ['\x16\x03\x01', 'bad-request-line'],
    ['\n', 'bad-request-line'],
    ['SSH-2.0-OpenSSH_9.7\r\n', 'bad-request-line'],
    ['A'.repeat(40), 'bad-request-line'],
    ['get / HTTP/1.1\r\n', 'unknown-method'],
    ['PRI * HTTP/2.0\r\n', 'bad-version'],
    ['GET / HTTP/1.1\r\nHost: gw\rtest', 'bare-cr-or-lf'],
  ] as const) {
    t.equal(
      reasonOf(() => checkIncompleteHead(text)),
      reason,
      JSON.stringify(text),
    )
  }
})
