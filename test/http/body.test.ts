import t, { type Test } from 'tap'
import { type BodyOutcome, readBody } from '../../src/http/body.ts'
import { openConnection, type RawConnection } from '../support/raw-client.ts'
import { startHttpServer } from './support/http-server.ts'

const limits = { maxBytes: 10, timeoutMs: 60_000 }

/** Sends these bytes to a server that reads the body; resolves to what it read. */
const outcomeOf = async (
  t: Test,
  bytes: string,
  options: typeof limits = limits,
): Promise<{ readonly outcome: Promise<BodyOutcome>; readonly connection: RawConnection }> => {
  const read = Promise.withResolvers<BodyOutcome>()
  const asked = Promise.withResolvers<void>()
  const { url } = await startHttpServer(t, (request, response) => {
    read.resolve(readBody(request, response, options))
    asked.resolve()
  })
  const connection = openConnection(t, url).send(bytes)
  await asked.promise
  return { outcome: read.promise, connection }
}

const head = (field: string): string => `POST / HTTP/1.1\r\nHost: gw.test\r\n${field}\r\n\r\n`

t.test('a body is read whole, up to the limit', async t => {
  for (const bytes of [
    `${head('Content-Length: 10')}0123456789`,
    `${head('Transfer-Encoding: chunked')}3\r\n012\r\n7\r\n3456789\r\n0\r\n\r\n`,
  ]) {
    const { outcome } = await outcomeOf(t, bytes)

    t.same(await outcome, { kind: 'body', text: '0123456789' })
  }
})

t.test('a character torn in two arrives whole', async t => {
  const { outcome, connection } = await outcomeOf(t, `${head('Content-Length: 2')}\xc3`)
  connection.send('\xa9')

  t.same(await outcome, { kind: 'body', text: 'é' })
})

t.test('one byte more is too large, whether declared or found', async t => {
  const declared = await outcomeOf(t, head('Content-Length: 11'))
  const found = await outcomeOf(t, `${head('Transfer-Encoding: chunked')}b\r\n01234567890\r\n`)

  t.same(await declared.outcome, { kind: 'too_large' })
  t.same(await found.outcome, { kind: 'too_large' })
})

t.test('a body that does not come in time is too slow', async t => {
  const { outcome } = await outcomeOf(t, `${head('Content-Length: 10')}01234`, { maxBytes: 10, timeoutMs: 20 })

  t.same(await outcome, { kind: 'too_slow' })
})

t.test('a client that leaves in mid-body has gone', async t => {
  for (const leave of ['reset', 'close', 'finish'] as const) {
    const { outcome, connection } = await outcomeOf(t, `${head('Content-Length: 10')}01234`)
    connection[leave]()

    t.same(await outcome, { kind: 'aborted' }, leave)
  }
})

t.test('a request without a body has an empty one', async t => {
  for (const field of ['X-A: 1', 'Content-Length: 0']) {
    const { outcome } = await outcomeOf(t, head(field))

    t.same(await outcome, { kind: 'body', text: '' }, field)
  }
})

t.test('a body whose chunks are broken has been refused: its reader learns at once that it is over', async t => {
  const together = await outcomeOf(t, `${head('Transfer-Encoding: chunked')}zz\r\n`)
  const later = await outcomeOf(t, head('Transfer-Encoding: chunked'))
  later.connection.send('zz\r\n')

  for (const { outcome, connection } of [together, later]) {
    t.same(await outcome, { kind: 'aborted' })
    t.equal((await connection.answer()).status, 400)
  }
})
