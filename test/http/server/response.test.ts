import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { fieldLines, writeReply } from '../../../src/http/reply.ts'
import type { Response } from '../../../src/http/server/response.ts'
import { eventually } from '../../support/eventually.ts'
import { headerOf, headersOf } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { head, reply, startHttpServer } from '../support/http-server.ts'

/** The bytes of one response as the client gets them. */
const answerTo = async (t: Test, write: (response: Response) => void, line = 'GET /', ...fields: readonly string[]) => {
  const { url } = await startHttpServer(t, (_request, response) => write(response))
  const connection = openConnection(t, url).send(head(line, ...fields))
  const answer = await connection.answer(line.split(' ', 1)[0])
  return { answer, connection }
}

const begin = (response: Response, length?: string, status = 200): void =>
  response.writeHead({ status, lines: 'x-own: 1\r\n', length, hasDate: false })

t.test('a response with a length has one Content-Length, a Date and its own lines', async t => {
  const { answer } = await answerTo(t, response => reply(response, 'here'))

  t.equal(answer.body.toString(), 'here')
  t.equal(headerOf(answer, 'content-length'), '4')
  t.equal(headerOf(answer, 'transfer-encoding'), undefined)
  t.ok(Math.abs(Date.parse(headerOf(answer, 'date') ?? '') - Date.now()) < 5000)
})

t.test('a Date that is among the lines is the only one', async t => {
  const lines = 'Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n'
  const { answer } = await answerTo(t, response => {
    response.writeHead({ status: 200, lines, length: '0', hasDate: true })
    response.end()
  })

  t.same(headersOf(answer, 'date'), ['Thu, 01 Jan 1970 00:00:00 GMT'])
})

t.test('a response without a length comes in chunks, of whatever size its pieces are', async t => {
  const pieces = ['a', '', 'b'.repeat(8192), 'c'.repeat(8193), 'd'.repeat(100_000)]
  const { answer, connection } = await answerTo(t, response => {
    begin(response)
    for (const piece of pieces) response.write(Buffer.from(piece))
    response.end('end')
  })

  t.equal(answer.body.toString(), `${pieces.join('')}end`)
  t.ok(answer.isComplete)
  t.equal(headerOf(answer, 'transfer-encoding'), 'chunked')
  t.equal(connection.state, 'open')
})

t.test('HTTP/1.0 gets a response without a length until the connection closes', async t => {
  const { url } = await startHttpServer(t, (_request, response) => {
    begin(response)
    response.write(Buffer.from('he'))
    response.end('re')
  })
  const connection = openConnection(t, url).send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
  t.equal(await connection.ended(), 'closed')
  const answer = await connection.answer()

  t.equal(answer.body.toString(), 'here')
  t.equal(headerOf(answer, 'connection'), 'close')
  t.equal(headerOf(answer, 'transfer-encoding'), undefined)
})

t.test('HEAD, 204 and 304 have no body, whatever is written', async t => {
  for (const [line, status] of [
    ['HEAD /', 200],
    ['GET /', 204],
    ['GET /', 304],
  ] as const) {
    for (const length of ['4', undefined]) {
      if (status === 204 && length !== undefined) continue
      const { answer, connection } = await answerTo(
        t,
        response => {
          begin(response, length, status)
          response.write(Buffer.from('he'))
          response.end('re')
        },
        line,
      )
      const what = `${line} ${status} ${length}`

      t.equal(answer.status, status, what)
      t.equal(headerOf(answer, 'content-length'), length, what)
      t.equal(headerOf(answer, 'transfer-encoding'), undefined, what)
      t.equal(connection.received.length, 0, what)
    }
  }
})

t.test('the head leaves with a flush, before there is a body', async t => {
  const { url } = await startHttpServer(t, (_request, response) => {
    begin(response, '4')
    response.flush()
  })
  const connection = openConnection(t, url).send(head('GET /'))

  t.match((await connection.receive(1)).toString(), /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s)
})

t.test('a response that is aborted looks incomplete in every framing', async t => {
  for (const [request, length] of [
    [head('GET /'), '10'],
    [head('GET /'), undefined],
    ['GET / HTTP/1.0\r\n\r\n', undefined],
  ] as const) {
    const { url } = await startHttpServer(t, (_request, response) => {
      begin(response, length)
      response.write(Buffer.from('hello'))
      setTimeout(() => response.abort(), 5)
    })
    const connection = openConnection(t, url).send(request)
    const state = await connection.ended()
    const isFramed = request === head('GET /')

    t.equal(state, isFramed ? 'closed' : 'reset')
    if (isFramed) t.notOk((await connection.answer()).isComplete)
  }
})

t.test('a response that others share arrives whole at clients of any speed, and at a HEAD not at all', async t => {
  const bytes = Buffer.alloc(20 * 1024 * 1024, 'a')
  const ended: number[] = []
  const { url } = await startHttpServer(t, (_request, response) => {
    response.listener = {
      onClose: () => t.fail('no client leaves'),
      onDrain: () => undefined,
      onFinish: () => ended.push(1),
    }
    begin(response, String(bytes.length))
    response.endShared(bytes)
  })
  const took = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { body } = await fetch(url)
      let received = 0
      const count = new Writable({
        write(piece, _encoding, done) {
          received += piece.length
          setImmediate(done)
        },
      })
      await body?.pipeTo(Writable.toWeb(count))
      return received
    }),
  )
  const head1 = await openConnection(t, url).send(head('HEAD /')).answer('HEAD')

  t.same(took, [bytes.length, bytes.length, bytes.length])
  t.equal(headerOf(head1, 'content-length'), String(bytes.length))
  t.equal(ended.length, 4)
})

t.test('a response has one head, and takes nothing behind its end', async t => {
  const { answer, connection } = await answerTo(t, response => {
    begin(response, '2')
    t.throws(() => begin(response, '2'))
    response.end('ok')
    response.write(Buffer.from('more'))
    response.end('more')
    response.abort()
    response.writeContinue()
  })

  t.equal(answer.body.toString(), 'ok')
  t.equal(connection.received.length, 0)
  t.equal((await connection.send(head('GET /')).answer()).body.toString(), 'ok')
})

t.test('a listener gets the end or the close of the connection, and no event twice', async t => {
  const told: string[] = []
  const { url } = await startHttpServer(t, ({ head }, response) => {
    response.listener = {
      onClose: () => void told.push('close'),
      onDrain: () => undefined,
      onFinish: () => void told.push('end'),
    }
    if (head.target === '/whole') reply(response)
  })
  const whole = openConnection(t, url).send(head('GET /whole'))
  await whole.answer()
  whole.close()
  const broken = openConnection(t, url).send(head('GET /broken'))
  broken.reset()
  await eventually(() => told.length === 2)

  t.same(told, ['end', 'close'])
})

t.test('a reply in UTF-8 arrives byte for byte', async t => {
  const body = 'é – 漢'
  const { answer } = await answerTo(t, response => writeReply(response, { status: 200, headers: [], body }, 'id'))

  t.equal(answer.body.toString(), body)
  t.equal(headerOf(answer, 'content-length'), String(Buffer.byteLength(body)))
  t.equal(headerOf(answer, 'x-request-id'), 'id')
})

t.test('a field value that would begin another line is never written', async t => {
  t.equal(fieldLines(['a', 'b', 'c', '\té ']), 'a: b\r\nc: \té \r\n')
  for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0', 'U+010A: \u010a', '漢', '\x7f']) {
    t.throws(() => fieldLines(['x-own', value]), TypeError, JSON.stringify(value))
  }
})

t.test('a response of a closed connection takes everything and sends nothing', async t => {
  const held: Response[] = []
  const { url } = await startHttpServer(t, (_request, response) => void held.push(response))
  const connection = openConnection(t, url).send(head('GET /'))
  await eventually(() => held.length === 1)
  connection.reset()
  await eventually(() => held[0]?.isOver)

  for (const response of held) {
    begin(response, '4')
    response.write(Buffer.from('he'))
    response.end('re')
    response.abort()
    t.notOk(response.isEnded)
  }
})
