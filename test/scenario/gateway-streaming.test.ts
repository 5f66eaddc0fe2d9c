import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { sampleOf, scrape, startGateway } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { openConnection } from '../support/raw-client.ts'
import { startCountingUpstream } from '../support/recording-upstream.ts'

const startUpstream = async (t: Tap, listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Tap {
  teardown(handler: () => unknown): unknown
}

/** Bytes that repeat at no power of two, so that a lost or doubled chunk shows. */
const largeBody = (bytes: number): Buffer => Buffer.alloc(bytes, 'sidegate streams what it is given; ')

const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

t.test('the first byte of an answer arrives before the last is sent, and of a body too', async t => {
  let finishAnswer = (): void => undefined
  let bodyBegun = (): void => undefined
  const begun = new Promise<void>(resolve => {
    bodyBegun = resolve
  })
  const url = await startUpstream(t, (req, res) => {
    req.once('data', bodyBegun)
    req.on('end', () => {
      res.write('first')
      finishAnswer = () => res.end('last')
    })
  })
  const gateway = await startGateway(t, { up: url })

  const connection = openConnection(t, gateway.url)
  connection.send('POST /up/a HTTP/1.1\r\nHost: gw.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
  await begun
  connection.send('0\r\n\r\n')
  await eventually(() => connection.received.includes('first'))
  t.notOk(connection.received.includes('last'))
  finishAnswer()

  t.equal((await connection.answer()).body.toString(), 'firstlast')
})

t.test('30 MB pass both ways, with and without a declared length', async t => {
  const body = largeBody(30 * 1024 * 1024)
  const url = await startUpstream(t, async (req, res) => {
    const received = await buffer(req)
    res.setHeader('x-digest', digest(received))
    if (req.url === '/up/declared') res.setHeader('content-length', received.length)
    Readable.from(chunksOf(received)).pipe(res)
  })
  const gateway = await startGateway(t, { up: url }, { upstreams: { up: { targets: [url], headersTimeout: '20s' } } })

  for (const path of ['/up/declared', '/up/chunked']) {
    const headers = path === '/up/declared' ? { 'content-length': body.length } : { 'transfer-encoding': 'chunked' }
    const sent = httpRequest(`${gateway.url}${path}`, { method: 'POST', headers })
    Readable.from(chunksOf(body)).pipe(sent)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const received = await buffer(answer)

    t.equal(answer.headers['x-digest'], digest(body), `${path}: what the upstream received`)
    t.equal(digest(received), digest(body), `${path}: what came back`)
  }
})

function* chunksOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 65_537) yield content.subarray(at, at + 65_537)
}

t.test('a client that does not read is not read ahead of', async t => {
  let written = 0
  const total = 64 * 1024 * 1024
  const url = await startUpstream(t, (_req, res) => {
    const chunk = largeBody(65_536)
    const pump = (): void => {
      while (written < total) {
        written += chunk.length
        if (!res.write(chunk)) return void res.once('drain', pump)
      }
      res.end()
    }
    pump()
  })
  const gateway = await startGateway(t, { up: url })
  const sent = httpRequest(`${gateway.url}/up/a`).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]

  let before = -1
  await eventually(async () => {
    const same = written === before
    before = written
    await new Promise(resolve => setTimeout(resolve, 100))
    return same
  })
  t.ok(written < total / 2, `the upstream was stopped after ${written} bytes`)
  t.equal((await buffer(answer)).length, total, 'and goes on when the client reads')
})

t.test(
  'an answer that comes before the body has been read arrives, whatever happens to the body (RFC 9112 section 9.5; checklist U10)',
  async t => {
    const upstream = await startCountingUpstream(t)
    const early = await startHasty(t)
    const gateway = await startGateway(t, { up: upstream.url, early })
    const sentFirst = 'a'.repeat(1024 * 1024)
    const sentLater = 'b'.repeat(100_000)
    const length = sentFirst.length + sentLater.length

    for (const field of ['Connection: keep-alive', 'Connection: close']) {
      const connection = openConnection(t, gateway.url)
      connection.send(
        `POST /early/a HTTP/1.1\r\nHost: gw.test\r\n${field}\r\nContent-Length: ${length}\r\n\r\n${sentFirst}`,
      )
      const refused = await connection.answer()
      t.equal(refused.status, 413, field)
      t.equal(refused.body.toString(), 'too much', field)
      connection.send(sentLater + clean)
      if (field === 'Connection: keep-alive') {
        t.equal(JSON.parse((await connection.answer()).body.toString()).target, '/up/a', field)
      } else {
        t.equal(await connection.ended(), 'closed', 'the connection is closed without a reset')
        t.equal(connection.received.length, 0, field)
      }
    }
  },
)

t.test('a client that stops in mid-body takes its upstream request with it', async t => {
  const upstream = await startCountingUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url })
  const connection = openConnection(t, gateway.url)
  connection.send('POST /up/a HTTP/1.1\r\nHost: gw.test\r\nContent-Length: 10\r\n\r\nhello')
  await eventually(() => upstream.openConnections() === 1)

  connection.reset()

  await eventually(() => upstream.openConnections() === 0)
  await eventually(async () => sampleOf(await scrape(gateway), 'sidegate_http_requests_in_flight') === 0)
  await eventually(() => gateway.output.some(line => line.includes('"status":499')))
  const gone = async () => sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', '"client_gone"')
  await eventually(async () => (await gone()) === 1)
  t.equal(upstream.requests.length, 0, 'a request that is not whole was never one')
  t.equal((await openConnection(t, gateway.url).send(clean).answer()).status, 200)
})

/** An upstream that answers the first bytes of a request, then closes its side. */
const startHasty = async (t: Tap): Promise<string> => {
  const server = createTcpServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 413 Content Too Large\r\ncontent-length: 8\r\n\r\ntoo much'))
    socket.resume()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const clean = 'GET /up/a HTTP/1.1\r\nHost: gw.test\r\n\r\n'
