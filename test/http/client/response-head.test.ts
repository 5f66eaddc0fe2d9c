import t from 'tap'
import { parseUpstreamHead as parse, type UpstreamHead } from '../../../src/http/client/response-head.ts'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'

const parseAnswerHead = (text: string, method: string): UpstreamHead => parse(text, method).head

/** The head of `HTTP/1.1 200 OK` with these lines, as an answer to GET. */
const head = (...lines: readonly string[]): string => ['HTTP/1.1 200 OK', ...lines].join('\r\n')

/** A head that is read, beside its neighbours that are not. */
interface Row {
  readonly what: string
  readonly accepted: readonly string[]
  readonly refused: readonly string[]
}

const rows: readonly Row[] = [
  {
    what: 'the version',
    accepted: ['HTTP/1.1 200 OK', 'HTTP/1.0 200 OK'],
    refused: [
      'HTTP/1.2 200 OK',
      'HTTP/2.0 200 OK',
      'http/1.1 200 OK',
      'HTTP/1.1200 OK',
      ' HTTP/1.1 200 OK',
      'ICY 200 OK',
    ],
  },
  {
    what: 'the status',
    accepted: ['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK', 'HTTP/1.1 418', 'HTTP/1.1 599 Odd'],
    refused: [
      'HTTP/1.1 099 OK',
      'HTTP/1.1 20 OK',
      'HTTP/1.1 2000 OK',
      'HTTP/1.1 2x0 OK',
      'HTTP/1.1  200 OK',
      'HTTP/1.1',
    ],
  },
  {
    what: 'a status that says nothing (RFC 9110 section 15)',
    accepted: ['HTTP/1.1 599 Odd'],
    refused: ['HTTP/1.1 600 Odd', 'HTTP/1.1 999 Odd'],
  },
  {
    what: 'the reason',
    accepted: ['HTTP/1.1 200 ', 'HTTP/1.1 200', 'HTTP/1.1 200 all\tis w\xe9ll'],
    refused: ['HTTP/1.1 200 O\0K', 'HTTP/1.1 200 OK\x7f', 'HTTP/1.1 200\tOK', 'HTTP/1.1 200 O\rK', 'HTTP/1.1 200 O\nK'],
  },
  {
    what: 'a name',
    accepted: [head('X-A: 1'), head("!#$%&'*+-.^_`|~09azAZ: 1")],
    refused: [
      head(': 1'),
      head('X A: 1'),
      head('X-A : 1'),
      head(' X-A: 1'),
      head('X-\xc4: 1'),
      head('X(A): 1'),
      head('X-A'),
    ],
  },
  {
    what: 'a value',
    accepted: [head('X-A: 1\t2 3'), head('X-A: \xe9'), head('X-A:'), head('X-A: a:b')],
    refused: [
      head('X-A: 1\x002'),
      head('X-A: 1\x7f2'),
      head('X-A: 1\x0b2'),
      head('X-A: 1\r2'),
      head('X-A: 1\n2'),
      head('X-A: 1\r'),
    ],
  },
  {
    what: 'lines',
    accepted: [head('X-A: 1', 'X-B: 2')],
    refused: [
      head('X-A: 1\nX-B: 2'),
      head('X-A: 1', ' 2'),
      head('X-A: 1', '\t2'),
      head('X-A: 1', '', 'X-B: 2'),
      head('', 'X-A: 1'),
    ],
  },
  {
    what: 'a length',
    accepted: [head('Content-Length: 5'), head('Content-Length:5 '), head('content-length: 0005')],
    refused: [
      head('Content-Length: +5'),
      head('Content-Length: -5'),
      head('Content-Length: 5x'),
      head('Content-Length: 0x5'),
      head('Content-Length: 5, 5'),
      head('Content-Length: 5 5'),
      head('Content-Length: '),
      head('Content-Length: 5', 'Content-Length: 5'),
      head('Content-Length: 5', 'content-length: 6'),
      head('Content-Length: 1000000000000000'),
    ],
  },
  {
    what: 'a transfer coding',
    accepted: [head('Transfer-Encoding: chunked'), head('transfer-encoding: Chunked')],
    refused: [
      head('Transfer-Encoding: gzip, chunked'),
      head('Transfer-Encoding: chunked, gzip'),
      head('Transfer-Encoding: identity'),
      head('Transfer-Encoding: xchunked'),
      head('Transfer-Encoding: chunked;a=b'),
      head('Transfer-Encoding: \x0bchunked'),
      head('Transfer-Encoding:'),
      head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
      head('Transfer-Encoding: chunked', 'Content-Length: 5'),
      'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked',
    ],
  },
]

t.test('what two readers could understand differently is refused, one character beside what is not', async t => {
  for (const { what, accepted, refused } of rows) {
    for (const text of accepted) t.doesNotThrow(() => parseAnswerHead(text, 'GET'), `${what}: ${JSON.stringify(text)}`)
    for (const text of refused) {
      t.throws(() => parseAnswerHead(text, 'GET'), InvalidMessageError, `not ${what}: ${JSON.stringify(text)}`)
    }
  }
})

t.test('fields come in their order and spelling, without the blanks around values', async t => {
  const { fields } = parseAnswerHead(head('X-B:  1 ', 'x-a:\t2\t', 'X-B: 3', '__proto__: 4', 'x-c:'), 'GET')

  t.same(fields, ['X-B', '1', 'x-a', '2', 'X-B', '3', '__proto__', '4', 'x-c', ''])
})

const framing = (lines: readonly string[], method = 'GET', start = 'HTTP/1.1 200 OK'): UpstreamHead['framing'] =>
  parseAnswerHead([start, ...lines].join('\r\n'), method).framing

t.test('how the body ends (RFC 9112 section 6.3)', async t => {
  const none = { by: 'length', bytes: 0 }

  t.same(framing(['Content-Length: 5']), { by: 'length', bytes: 5 })
  t.same(framing(['Content-Length: 999999999999999']), { by: 'length', bytes: 999_999_999_999_999 })
  t.same(framing(['Transfer-Encoding: chunked']), { by: 'chunks' })
  t.same(framing([]), { by: 'close' })
  for (const lines of [['Content-Length: 5'], ['Transfer-Encoding: chunked'], []]) {
    t.same(framing(lines, 'HEAD'), none, `HEAD, ${lines}`)
    for (const status of [100, 103, 204, 304])
      t.same(framing(lines, 'GET', `HTTP/1.1 ${status} A`), none, `${status}, ${lines}`)
  }
})

t.test('a body that is not there must still be declared in one way', async t => {
  t.throws(() => framing(['Content-Length: 5', 'Content-Length: 6'], 'HEAD'), InvalidMessageError)
  t.throws(
    () => framing(['Content-Length: 5', 'Transfer-Encoding: chunked'], 'GET', 'HTTP/1.1 304 A'),
    InvalidMessageError,
  )
})

const persists = (start: string, ...lines: readonly string[]): boolean =>
  parseAnswerHead([start, 'Content-Length: 0', ...lines].join('\r\n'), 'GET').persists

t.test('whether the connection goes on (RFC 9112 section 9.3)', async t => {
  t.ok(persists('HTTP/1.1 200 OK'))
  t.ok(persists('HTTP/1.1 200 OK', 'Connection: closed'), 'an option is a whole word')
  for (const value of ['close', 'Close', 'x-a, close', 'close , x-a', 'x-a\r\nConnection: close']) {
    t.notOk(persists('HTTP/1.1 200 OK', `Connection: ${value}`), value)
  }
  t.notOk(persists('HTTP/1.0 200 OK'))
  t.ok(persists('HTTP/1.0 200 OK', 'Connection: Keep-Alive'))
  t.notOk(parseAnswerHead('HTTP/1.1 200 OK', 'GET').persists, 'a body that ends with the connection')
})

t.test('nothing goes on after an answer that has no body and declares one: it may still come', async t => {
  const goesOn = (start: string, line: string, method = 'GET') =>
    parseAnswerHead(`${start}\r\n${line}`, method).persists

  for (const [start, method] of [
    ['HTTP/1.1 204 No Content', 'GET'],
    ['HTTP/1.1 304 Not Modified', 'GET'],
    ['HTTP/1.1 200 OK', 'HEAD'],
  ] as const) {
    t.notOk(goesOn(start, 'Content-Length: 5', method), start)
    t.notOk(goesOn(start, 'Transfer-Encoding: chunked', method), start)
    t.ok(goesOn(start, 'Content-Length: 0', method), start)
    t.ok(goesOn(start, 'X-A: 1', method), start)
  }
})

t.test('for how long the server keeps the connection', async t => {
  const keepsForSec = (value: string) => parseAnswerHead(head(`Keep-Alive: ${value}`), 'GET').keepsForSec

  t.equal(keepsForSec('timeout=5, max=100'), 5)
  t.equal(keepsForSec('max=100,TIMEOUT=15'), 15)
  for (const value of ['max=100', 'timeout=', 'timeout=soon', 'xtimeout=5', 'timeout=9999999']) {
    t.equal(keepsForSec(value), undefined, value)
  }
})
