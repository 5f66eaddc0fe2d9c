import t from 'tap'
import { ChunkedDecoder } from '../../../src/http/message/chunked-decoder.ts'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'
import { brokenChunks } from '../../support/broken-chunks.ts'
import { splits } from '../support/splits.ts'

interface Unchunked {
  readonly content: string
  /** The bytes after the body. */
  readonly rest: string
  readonly isDone: boolean
}

const unchunk = (pieces: readonly Buffer[], extensions: 'strict' | 'lenient' = 'lenient'): Unchunked => {
  const body = new ChunkedDecoder(extensions)
  let content = ''
  let rest = ''
  for (const piece of pieces) {
    const end = body.read(piece, 0, data => {
      content += data.toString('latin1')
    })
    rest += piece.toString('latin1', end)
  }
  return { content, rest, isDone: body.isDone }
}

const whole: Readonly<Record<string, Unchunked>> = {
  '5\r\nhello\r\n0\r\n\r\n': { content: 'hello', rest: '', isDone: true },
  '5\r\nhel\r\n\r\n0\r\n\r\n': { content: 'hel\r\n', rest: '', isDone: true },
  '3\r\n0\r\n\r\n0\r\n\r\n': { content: '0\r\n', rest: '', isDone: true },
  '1\r\na\r\n00A\r\n0123456789\r\n000\r\n\r\n': { content: 'a0123456789', rest: '', isDone: true },
  '0\r\n\r\n': { content: '', rest: '', isDone: true },
  '1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n': { content: 'a', rest: 'HTTP/1.1 200 OK\r\n', isDone: true },
  '1;a=b\r\na\r\n0;c="d"\r\n\r\n': { content: 'a', rest: '', isDone: true },
  '1 ;\ta\r\na\r\n0\r\n\r\n': { content: 'a', rest: '', isDone: true },
  '1\r\na\r\n0\r\nX-A: 1\r\nX-B: 50\r\n\r\n': { content: 'a', rest: '', isDone: true },
  '1\r\na\r\n0\r\n\r\n\r\n': { content: 'a', rest: '\r\n', isDone: true },
  '5\r\nhel': { content: 'hel', rest: '', isDone: false },
  '5\r\nhello\r\n0\r\n': { content: 'hello', rest: '', isDone: false },
  '': { content: '', rest: '', isDone: false },
}

const isSame = (found: Unchunked, wanted: Unchunked): boolean => JSON.stringify(found) === JSON.stringify(wanted)

t.test('a body comes out of its chunks in one way, whatever pieces the bytes come in', async t => {
  for (const [bytes, expected] of Object.entries(whole)) {
    const broken = splits(bytes).filter(pieces => !isSame(unchunk(pieces), expected))
    t.same(
      broken.map(pieces => pieces.map(String)),
      [],
      JSON.stringify(bytes),
    )
  }
})

const refused: readonly string[] = [
  ...brokenChunks,
  '5\r\nhello \r\n0\r\n\r\n',
  '5;a\0\r\nhello\r\n0\r\n\r\n',
  '5;a\rb\r\nhello\r\n0\r\n\r\n',
  '5, 5\r\nhello\r\n0\r\n\r\n',
  '10000000000000\r\n',
  `5;${'a'.repeat(5000)}\r\n`,
  '0'.repeat(5000),
  `0\r\n${'X-A: 1\r\n'.repeat(3000)}`,
  `0\r\nX-A: ${'a'.repeat(20_000)}`,
]

t.test('what is no chunk is refused, whatever pieces the bytes come in', async t => {
  for (const bytes of refused) {
    for (const pieces of [[Buffer.from(bytes, 'latin1')], [...bytes].map(byte => Buffer.from(byte, 'latin1'))]) {
      t.throws(
        () => unchunk(pieces),
        InvalidMessageError,
        `${pieces.length} pieces of ${JSON.stringify(bytes.slice(0, 40))}`,
      )
    }
  }
})

t.test(
  'the decoder refuses extensions of a request that some readers refuse, and takes those of an upstream',
  async t => {
    for (const size of ['1 ;a', '1;', '1;a b', '1;a="b', '1;a=']) {
      const bytes = Buffer.from(`${size}\r\na\r\n0\r\n\r\n`)
      t.throws(() => unchunk([bytes], 'strict'), InvalidMessageError, size)
      t.match(unchunk([bytes], 'lenient'), { content: 'a', isDone: true }, size)
    }
    t.match(unchunk([Buffer.from('1;a=b;c="d \\" e"\r\na\r\n0\r\n\r\n')], 'strict'), { content: 'a', isDone: true })
  },
)

t.test('a trailer that frames the message is refused (RFC 9110 section 6.5.1)', async t => {
  for (const line of ['Content-Length: 50', 'transfer-encoding: chunked']) {
    t.throws(() => unchunk([Buffer.from(`0\r\n${line}\r\n\r\n`)]), InvalidMessageError, line)
  }
})

t.test('a piece is handed on as it comes, not when its chunk is whole', async t => {
  const body = new ChunkedDecoder('strict')
  const heard: string[] = []

  body.read(Buffer.from('8\r\nhel'), 0, data => heard.push(String(data)))
  t.same(heard, ['hel'])
  body.read(Buffer.from('lo'), 0, data => heard.push(String(data)))
  t.same(heard, ['hel', 'lo'])
})
