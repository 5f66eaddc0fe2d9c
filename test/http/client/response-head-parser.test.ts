import t from 'tap'
import { parseUpstreamHead } from '../../../src/http/client/response-head.ts'
import { UpstreamHeadParser } from '../../../src/http/client/response-head-parser.ts'
import { InvalidMessageError } from '../../../src/http/message/invalid-message.ts'

const head = (...lines: readonly string[]): string => ['HTTP/1.1 200 OK', ...lines].join('\r\n')

const dates = ['Date: Sun, 06 Nov 1994 08:49:37 GMT', 'date:Mon, 07 Nov 1994 08:49:38 GMT', 'Date: yesterday']
const lengths = ['Content-Length: 5', 'Content-Length: 0', 'content-length: 12345', 'Content-Length:7 ']
const others = [
  'Content-Type: text/plain',
  'Content-Type: text/html',
  'Connection: close',
  'Connection: keep-alive, date',
  'Keep-Alive: timeout=5',
  'Transfer-Encoding: chunked',
  'X-Date: Sun, 06 Nov 1994 08:49:37 GMT',
]

/** Heads that differ from each other in one line, or in the order of two. */
const heads: readonly string[] = [
  head(),
  ...dates.flatMap(date => [
    head(date),
    head(others[0] ?? '', date),
    head(date, others[6] ?? ''),
    head(others[6] ?? '', date),
  ]),
  ...lengths.flatMap(length => [head(length), head(length, others[1] ?? '')]),
  ...dates.flatMap(date => lengths.flatMap(length => [head(date, length), head(length, date)])),
  ...others.flatMap(other => dates.map(date => head(other, date))),
  ...others.slice(0, 5).flatMap(other => lengths.map(length => head(dates[0] ?? '', other, length))),
  head('Content-Length: 5').replace('200 OK', '204 No Content'),
  head('Content-Length: 0').replace('200 OK', '204 No Content'),
  head('Content-Length: 5').replace('200 OK', '304 Not Modified'),
  head('Content-Length: 5').replace('HTTP/1.1', 'HTTP/1.0'),
]

t.test('a head behind any other on its connection is read as if it were the first', async t => {
  for (const method of ['GET', 'HEAD']) {
    for (const before of heads) {
      const different = heads.filter(text => {
        const parser = new UpstreamHeadParser()
        parser.parse(before, method)
        return JSON.stringify(parser.parse(text, method)) !== JSON.stringify(parseUpstreamHead(text, method).head)
      })
      t.same(different, [], `${method}, behind ${JSON.stringify(before)}`)
    }
  }
})

t.test('a head is not parsed again if it differs from the one before in Date and length alone', async t => {
  const parser = new UpstreamHeadParser()
  const first = parser.parse(head(dates[0] ?? '', 'Content-Length: 5', 'X-A: b'), 'GET')
  const again = parser.parse(head('Date: Mon, 07 Nov 1994 08:49:38 GMT', 'Content-Length: 12345', 'X-A: b'), 'GET')

  t.equal(again.fields, first.fields, 'its fields are those of the first')
  t.match(again, { framing: { by: 'length', bytes: 12345 }, length: '12345' })
  t.equal(again.lines, 'Date: Mon, 07 Nov 1994 08:49:38 GMT\r\nX-A: b\r\n')
})

t.test('an answer to HEAD is not read as one to GET', async t => {
  const parser = new UpstreamHeadParser()
  const text = head('Content-Length: 5')

  t.match(parser.parse(text, 'GET'), { framing: { bytes: 5 }, persists: true })
  t.match(parser.parse(text, 'HEAD'), { framing: { bytes: 0 }, persists: false })
  t.match(parser.parse(text, 'GET'), { framing: { bytes: 5 }, persists: true })
})

t.test('a broken value in the place of Date or length is refused', async t => {
  const good = head(dates[0] ?? '', 'Content-Length: 5')
  for (const text of [
    head('Date: Sun, 06 Nov 1994 08:49:3\x00 GMT', 'Content-Length: 5'),
    head('Date: Sun, 06 Nov 1994 08:49:37 GMT\rX: y', 'Content-Length: 5'),
    head(dates[0] ?? '', 'Content-Length: 5x'),
    head(dates[0] ?? '', 'Content-Length: -1'),
    head(dates[0] ?? '', 'Content-Length: 1234567890123456'),
    head(dates[0] ?? '', 'Content-Length: 5', 'Content-Length: 5'),
  ]) {
    const parser = new UpstreamHeadParser()
    parser.parse(good, 'GET')
    t.throws(() => parser.parse(text, 'GET'), InvalidMessageError, JSON.stringify(text))
  }
})
