import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type BodyOutcome, readBody } from '../../src/http/body.ts'
import { openConnection, type RawConnection } from '../support/raw-client.ts'

const limits = { maxBytes: 10, timeoutMs: 60_000 }

/** Sends these bytes to a server that reads the body; resolves to what it read. */
const outcomeOf = async (
  t: Test,
  bytes: string,
  options: typeof limits = limits,
): Promise<{ readonly outcome: Promise<BodyOutcome>; readonly connection: RawConnection }> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const connection = openConnection(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`).send(bytes)
  const [req] = (await once(server, 'request')) as [IncomingMessage]
  return { outcome: readBody(req, req.headers['content-length'], options), connection }
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
  const { outcome, connection } = await outcomeOf(t, `${head('Content-Length: 10')}01234`)
  connection.reset()

  t.same(await outcome, { kind: 'aborted' })
})
