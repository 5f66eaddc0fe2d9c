import t from 'tap'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'
import { checkIncompleteHead, parseRequestHead } from '../../../src/http/server/request-parser.ts'
import { createReader } from '../fuzz/our-reading.ts'
import { createOurServer } from '../fuzz/our-server.ts'

const reasonOf = (check: () => void): string | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof InvalidMessageError)) throw error
    return error.reason
  }
}

const broken: readonly (readonly [head: string, reason: string])[] = [
  ['GET / HTTP/1.1\r\nX-A: \0\nb', 'control-byte'],
  ['GET / HTTP/1.1\r\nX-A: \n\0b', 'bare-cr-or-lf'],
  ['GET / HTTP/1.1\r\nX-A: \rb', 'bare-cr-or-lf'],
  ['GET / HTTP/1.1\r\nX-A\r\nX-B: \0', 'not-a-field'],
  ['G@T /\0 HTTP/1.1', 'bad-request-line'],
  [`${'A'.repeat(40)}\0`, 'bad-request-line'],
  ['GET /\0 HTTP/1.1 x', 'control-byte'],
]

t.test('a broken head is refused for the reason of its first fault, however much of it has come', async t => {
  for (const [head, reason] of broken) {
    const beginnings = Array.from(head, (_, at) => reasonOf(() => checkIncompleteHead(head.slice(0, at + 1))))
    const found = beginnings.filter(each => each !== undefined)
    t.same(new Set([...found, reasonOf(() => parseRequestHead(head, 100))]), new Set([reason]), JSON.stringify(head))
  }
})

t.test('each line of a head is checked once, however many pieces it comes in', async t => {
  const head = 'GET / HTTP/1.1\r\nHost: a\r\nX-A'
  const lines = [0, 16, 25]
  for (let to = 0, from = 0; to <= head.length; to++) {
    from = checkIncompleteHead(head.slice(0, to), from)
    t.equal(from, lines.findLast(line => line <= to) ?? 0, `${to} bytes`)
  }
  t.equal(
    reasonOf(() => checkIncompleteHead(`${head} A: b\r\nX`, 25)),
    'bad-field-name',
    'a checked head goes on',
  )
})

t.test('a head of 16 KiB is read and a larger one refused, wherever they are cut', async t => {
  const read = createReader(createOurServer)
  for (const [bytes, end] of [
    [16_384, { is: 'open' }],
    [16_385, { is: 'refused', reason: 'head-too-large' }],
  ] as const) {
    const start = 'GET / HTTP/1.1\r\nHost: a\r\nX-A: '
    const head = Buffer.from(`${start}${'a'.repeat(bytes - start.length)}\r\n\r\n`)
    for (let at = head.length - 6; at <= head.length; at++) {
      const { end: found } = await read([head.subarray(0, at), head.subarray(at)])
      t.same(found, end, `${bytes} bytes, cut at ${at}`)
    }
  }
})
