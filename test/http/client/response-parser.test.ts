import t from 'tap'
import type { UpstreamHead } from '../../../src/http/client/response-head.ts'
import { ResponseParser } from '../../../src/http/client/response-parser.ts'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'
import { splits } from '../support/splits.ts'

/** The calls of a parser. */
interface Told {
  readonly status: number | undefined
  readonly body: string
  readonly hasEnded: boolean
  /** Bytes behind the answer. */
  readonly rest: string
}

/** @param ends whether the connection ends after the bytes */
const read = (pieces: readonly Buffer[], method = 'GET', ends = false): Told => {
  const heads: UpstreamHead[] = []
  let body = ''
  let ended = 0
  let rest = ''
  const reader = new ResponseParser(method, {
    onHead: head => heads.push(head),
    onData: piece => {
      body += piece.toString('latin1')
    },
    onEnd: () => {
      ended += 1
    },
  })
  for (const piece of pieces)
    rest += reader.isDone ? piece.toString('latin1') : piece.toString('latin1', reader.read(piece))
  if (ends && !reader.isDone) reader.finish()
  if (heads.length > 1 || ended > 1) throw new Error('a response is reported once')
  return { status: heads[0]?.status, body, hasEnded: ended === 1, rest }
}

const ok = 'HTTP/1.1 200 OK\r\n'

interface Case {
  readonly bytes: string
  readonly method?: string
  readonly ends?: boolean
  readonly told: Told
}

const whole = (body: string, rest = '', status = 200): Told => ({ status, body, hasEnded: true, rest })

const cases: readonly Case[] = [
  { bytes: `${ok}Content-Length: 5\r\n\r\nhello`, told: whole('hello') },
  { bytes: `${ok}Content-Length: 5\r\n\r\nhello more`, told: whole('hello', ' more') },
  { bytes: `${ok}Content-Length: 0\r\n\r\n`, told: whole('') },
  { bytes: `${ok}Content-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n`, told: whole('', 'HTTP/1.1 200 OK\r\n\r\n') },
  { bytes: `${ok}Content-Length: 4\r\n\r\n\r\n\r\n`, told: whole('\r\n\r\n') },
  { bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, told: whole('hello') },
  {
    bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\n\r\nmore`,
    told: whole('hello', 'more'),
  },
  { bytes: `${ok}\r\nhello`, ends: true, told: whole('hello') },
  { bytes: `${ok}\r\n`, ends: true, told: whole('') },
  { bytes: `${ok}\r\nhello`, told: { status: 200, body: 'hello', hasEnded: false, rest: '' } },
  { bytes: `${ok}Content-Length: 5\r\n\r\nhello`, method: 'HEAD', told: whole('', 'hello') },
  { bytes: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello', told: whole('', 'hello', 204) },
  { bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', told: whole('', '', 304) },
  { bytes: `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`, told: whole('ok') },
  {
    bytes: `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 A\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
    told: whole('ok'),
  },
  { bytes: `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(16)}${ok}Content-Length: 0\r\n\r\n`, told: whole('') },
  {
    bytes: `${ok}Content-Length: 25\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n`,
    told: whole('HTTP/1.1 100 Continue\r\n\r\n'),
  },
]

t.test('an answer is read in one way, whatever pieces its bytes come in', async t => {
  for (const { bytes, method, ends, told } of cases) {
    const odd = splits(bytes).filter(pieces => JSON.stringify(read(pieces, method, ends)) !== JSON.stringify(told))
    t.same(
      odd.map(pieces => pieces.map(String)),
      [],
      JSON.stringify(bytes),
    )
  }
})

const refused: readonly string[] = [
  'this is not HTTP',
  'x',
  '\r\nHTTP/1.1 200 OK\r\n\r\n',
  `\n${ok}\r\n`,
  'HTTP/2 200\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nx',
  `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(Math.floor(65_536 / 25) + 1)}${ok}\r\n`,
  `HTTP/1.1 103 A\r\nLink: ${'a'.repeat(40_000)}\r\n\r\nHTTP/1.1 103 A\r\nLink: ${'a'.repeat(40_000)}\r\n\r\n${ok}\r\n`,
  `${ok}X-A: ${'a'.repeat(65_536)}\r\n\r\n`,
  `HTTP/1.1 100 Continue\r\n\r\n${ok}X-A: ${'a'.repeat(65_536)}\r\n\r\n`,
  `${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
]

t.test('what is no answer is refused, as soon as it can be seen', async t => {
  for (const bytes of refused) {
    const inTwo = [Buffer.from(bytes.slice(0, 1)), Buffer.from(bytes.slice(1))]
    for (const pieces of [[Buffer.from(bytes)], inTwo]) {
      t.throws(
        () => read(pieces),
        InvalidMessageError,
        `${pieces.length} pieces of ${JSON.stringify(bytes.slice(0, 60))}`,
      )
    }
  }
})

t.test('interim responses are limited by their bytes, not by their number', t => {
  const many = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(2400)
  const pieces = many.match(/[\s\S]{1,1000}/g) ?? []
  const final = `${ok}Content-Length: 2\r\n\r\nok`

  t.ok(many.length <= 65_536)
  t.same(read([Buffer.from(many + final)]), whole('ok'))
  t.same(read([...pieces, final].map(piece => Buffer.from(piece))), whole('ok'))
  t.end()
})

t.test('a head without an end is refused at 64 KiB, not held for ever', async t => {
  const reader = new ResponseParser('GET', { onHead: () => t.fail(), onData: () => t.fail(), onEnd: () => t.fail() })
  const piece = Buffer.from(`X-A: ${'a'.repeat(1017)}\r\n`)
  reader.read(Buffer.from(ok))

  t.throws(() => {
    for (let i = 0; i <= 64; i++) reader.read(piece)
  }, InvalidMessageError)
})

t.test('a connection that ends in mid-answer cuts it off', async t => {
  const cutOff = [
    '',
    'HTTP/1.1 20',
    'HTTP/1.1 100 Continue\r\n\r\n',
    `${ok}Content-Length: 5\r\n\r\n`,
    `${ok}Content-Length: 5\r\n\r\nhell`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`,
  ]
  for (const bytes of cutOff)
    t.throws(() => read([Buffer.from(bytes)], 'GET', true), InvalidMessageError, JSON.stringify(bytes))
})
