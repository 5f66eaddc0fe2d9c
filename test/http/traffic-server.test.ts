import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { GatewayErrorCode } from '../../src/errors.ts'
import { createTrafficServer, type DropReason, defaultTrafficServerOptions } from '../../src/http/traffic-server.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf } from '../support/raw-answer.ts'
import { openConnection } from '../support/raw-client.ts'

const quick = { ...defaultTrafficServerOptions, headersTimeoutMs: 100, requestTimeoutMs: 300 }

/** A listening server; `answer` gets its plain requests, `refusals` holds what it refused by itself. */
const listen = async (
  t: Test,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  options: typeof quick = defaultTrafficServerOptions,
) => {
  const refusals: GatewayErrorCode[] = []
  const drops: DropReason[] = []
  const upgrades: IncomingMessage[] = []
  const { server } = createTrafficServer(options, {
    request: answer,
    upgrade: (req, socket) => {
      upgrades.push(req)
      socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n')
    },
    refused: code => refusals.push(code),
    dropped: reason => drops.push(reason),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refusals, drops, upgrades }
}

const request = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

t.test('a header that does not come in time is 408, as a problem', async t => {
  const { url, refusals, drops } = await listen(t, (_req, res) => res.end(), quick)
  const connection = openConnection(t, url).send('GET / HTTP/1.1\r\nHost: gw')
  const refused = await connection.answer()

  t.equal(refused.status, 408)
  t.match(JSON.parse(refused.body.toString()), {
    code: 'REQUEST_TIMEOUT',
    request_id: headerOf(refused, 'x-request-id'),
  })
  t.not(await connection.ended(), 'open')
  t.same(refusals, ['REQUEST_TIMEOUT'])
  t.same(drops, ['timeout'])
})

t.test('L10: a body that does not come in time is 408, and whoever waits for it hears of it', async t => {
  const gone = Promise.withResolvers<void>()
  const { url } = await listen(t, (_req, res) => void res.on('close', gone.resolve), quick)
  const connection = openConnection(t, url).send(`${request('POST /', 'Content-Length: 10')}hello`)
  const refused = await connection.answer()

  t.equal(refused.status, 408)
  t.not(await connection.ended(), 'open')
  await gone.promise
})

t.test('a header with more fields than the limit is 431, none is dropped', async t => {
  const { url, refusals, drops } = await listen(t, (req, res) => res.end(String(req.rawHeaders.length / 2)))
  const fields = (count: number) => Array.from({ length: count }, (_, place) => `X-${place}: a`)

  const whole = await openConnection(t, url)
    .send(request('GET /', ...fields(99)))
    .answer()
  const connection = openConnection(t, url).send(request('GET /', ...fields(100)))
  const refused = await connection.answer()

  t.equal(whole.body.toString(), '100', 'with Host')
  t.match(JSON.parse(refused.body.toString()), { status: 431, code: 'HEADERS_TOO_LARGE' })
  t.not(await connection.ended(), 'open')
  t.same(refusals, ['HEADERS_TOO_LARGE'])
  t.same(drops, ['invalid'])
})

t.test(
  'a refusal never takes the place of an answer that is owed: those come in order, then the connection ends',
  async t => {
    for (const requests of [1, 3]) {
      const answers: (() => void)[] = []
      const { url, refusals } = await listen(t, (_req, res) => {
        answers.push(() => void res.end(`no. ${answers.length}`))
      })
      const connection = openConnection(t, url).send(`${request('GET /').repeat(requests)}garbage\r\n\r\n`)
      await eventually(() => answers.length === requests)
      for (const answer of answers) answer()

      for (const _ of answers) t.equal((await connection.answer()).body.toString(), `no. ${requests}`)
      t.not(await connection.ended(), 'open')
      t.equal(connection.received.length, 0)
      t.same(refusals, [])
    }
  },
)

t.test('a request in whose body the bytes go bad takes those before it not with it', async t => {
  const answers: (() => void)[] = []
  const { url } = await listen(t, (_req, res) => void answers.push(() => void res.end('whole')))
  const connection = openConnection(t, url)
  connection.send(`${request('GET /')}${request('POST /', 'Transfer-Encoding: chunked')}zz\r\n`)
  await eventually(() => answers.length === 2)
  answers[0]?.()

  t.equal((await connection.answer()).body.toString(), 'whole')
  t.not(await connection.ended(), 'open')
  t.equal(connection.received.length, 0)
})

t.test('a refusal never stands in the middle of an answer', async t => {
  const { url } = await listen(t, (_req, res) => {
    res.writeHead(200, { 'content-length': 10 })
    res.write('first')
  })
  const connection = openConnection(t, url).send(request('POST /', 'Transfer-Encoding: chunked'))
  await connection.receive(1)
  connection.send('zz\r\n')

  t.notOk((await connection.answer()).isComplete)
  t.equal(connection.received.length, 0)
})

t.test('only a GET that asks for a WebSocket is an upgrade', async t => {
  const { url, upgrades } = await listen(t, (_req, res) => void res.end('plain'))
  const ask = async (method: string, protocol: string) => {
    const bytes = request(`${method} /`, 'Connection: Upgrade', `Upgrade: ${protocol}`)
    return (await openConnection(t, url).send(bytes).answer(method)).status
  }

  t.equal(await ask('GET', 'WebSocket'), 101)
  for (const [method, protocol] of [
    ['POST', 'websocket'],
    ['GET', 'h2c'],
    ['GET', 'websocket, h2c'],
  ] as const) {
    t.equal(await ask(method, protocol), 200, `${method} ${protocol}`)
  }
  t.equal(upgrades.length, 1)
})

t.test('where there is no room for another connection, idle ones make it, and busy ones stay', async t => {
  const answers: (() => void)[] = []
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (req.url === '/busy') answers.push(() => res.end('late'))
    else res.end()
  }
  const { url, drops } = await listen(t, onRequest, { ...defaultTrafficServerOptions, maxConnections: 10 })
  const busy = openConnection(t, url).send(request('GET /busy'))
  const kept = Array.from({ length: 9 }, () => openConnection(t, url).send(request('GET /')))
  await Promise.all(kept.map(connection => connection.answer()))
  await eventually(() => answers.length === 1)

  t.not(await openConnection(t, url).ended(), 'open')
  for (const connection of kept) t.not(await connection.ended(), 'open')
  t.same(drops, ['full', ...kept.map(() => 'room')])

  t.equal((await openConnection(t, url).send(request('GET /')).answer()).status, 200)
  for (const answer of answers) answer()
  t.equal((await busy.answer()).body.toString(), 'late')
})

t.test('of those that make room none ends that has half a header, and not all at the same moment', async t => {
  const count = 50
  const sockets = new Set<Socket>()
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    sockets.add(req.socket)
    res.end()
  }
  const { url, drops } = await listen(t, onRequest, { ...defaultTrafficServerOptions, maxConnections: count })
  const kept = Array.from({ length: count }, () => openConnection(t, url).send(request('GET /')))
  await Promise.all(kept.map(connection => connection.answer()))
  const [half] = kept
  half?.send('GET / HTTP/1.1\r\nHost: ')
  await eventually(() => [...sockets].some(({ bytesRead }) => bytesRead > request('GET /').length))
  const ended = (): number => [...sockets].filter(({ destroyed }) => destroyed).length

  openConnection(t, url)
  const each: number[] = []
  while (ended() < count - 1) {
    const before = ended()
    await nextTurn()
    each.push(ended() - before)
  }
  t.ok(Math.max(...each) < count / 2, `${each}`)
  t.equal((await half?.send('gw.test\r\n\r\n').answer())?.status, 200)
  t.same(drops, ['full', ...Array.from({ length: count - 1 }, () => 'room')])
})

t.test('a client that takes nothing of its answer is let go, and one that waits for its answer is not', async t => {
  const gone = Promise.withResolvers<void>()
  let answer = (): void => undefined
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (req.url === '/late') answer = () => void res.end('late')
    else res.on('close', gone.resolve).end(Buffer.alloc(32 * 1024 * 1024))
  }
  const { url, drops } = await listen(t, onRequest, { ...defaultTrafficServerOptions, sendTimeoutMs: 100 })
  const waiting = openConnection(t, url).send(request('GET /late'))
  const deaf = connect(Number(new URL(url).port), '127.0.0.1', () => deaf.write(request('GET /')))
  t.teardown(() => deaf.destroy())

  await gone.promise
  t.same(drops, ['stalled'])
  answer()

  t.equal((await waiting.answer()).body.toString(), 'late')
})

t.test('a client that goes by itself is not said to be dropped', async t => {
  const { url, drops } = await listen(t, (_req, res) => res.end())
  const silent = openConnection(t, url)
  silent.reset()
  const begun = openConnection(t, url).send('GET / HTTP/1.1\r\nHost: gw')
  begun.reset()
  const asked = openConnection(t, url).send(request('GET /', 'Connection: close'))
  await asked.answer()

  t.equal(await asked.ended(), 'closed')
  t.same(drops, [])
})
