import t from 'tap'
import { ChunkedDecoder } from '../../../src/http/message/chunked-decoder.ts'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'

/** The reason that these pieces are refused for. */
const reasonOf = (pieces: readonly string[]): string => {
  const decoder = new ChunkedDecoder('strict')
  try {
    for (const piece of pieces) decoder.read(Buffer.from(piece, 'latin1'), 0, () => {})
    return 'none'
  } catch (error) {
    if (!(error instanceof InvalidMessageError)) throw error
    return error.reason
  }
}

const broken: readonly (readonly [body: string, reason: string])[] = [
  ['5 \nhello', 'bad-chunk-size'],
  ['5\rx\nhello', 'bad-chunk-size'],
  ['5;a\nhello', 'bare-cr-or-lf'],
  ['5\nhello', 'bare-cr-or-lf'],
  ['5\r\nhellox\n', 'bad-chunk-end'],
  ['5\r\nhello\r\r\n', 'bad-chunk-end'],
  ['5\r\nhello\n', 'bare-cr-or-lf'],
  [`5;\0${'a'.repeat(5000)}\r\n`, 'bad-chunk-size'],
  [`5;${'a'.repeat(5000)}\0\r\n`, 'chunk-line-too-long'],
]

t.test('broken chunks are refused for one reason, wherever they are cut', async t => {
  for (const [body, reason] of broken) {
    const reasons = Array.from(body, (_, at) => reasonOf([body.slice(0, at), body.slice(at)]))
    t.same(new Set(reasons), new Set([reason]), JSON.stringify(body.slice(0, 20)))
  }
})
