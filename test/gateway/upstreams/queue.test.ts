import type { Socket } from 'node:net'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import { headerOf, type RawAnswer } from '../../support/raw-answer.ts'
import { openConnection } from '../../support/raw-client.ts'
import { startCountingUpstream } from '../../support/recording-upstream.ts'
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts'
import { sampleOf, scrape, startGateway } from '../support/running.ts'

const get = (path: string, ...fields: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: gw.test', ...fields, '', ''].join('\r\n')

const handshake = (path: string): string =>
  get(
    path,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  )

t.test('an upstream gets at most a number of requests at a time', async t => {
  const held: Socket[] = []
  const upstream = await startCountingUpstream(t, socket => held.push(socket))
  const sockets = await startWebSocketUpstream(t)
  const answerNext = () => held.shift()?.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  const upstreams = {
    narrow: { targets: [upstream.url], maxInFlight: 1, maxQueue: 1, queueTimeout: '1m' },
    hasty: { targets: [upstream.url], maxInFlight: 1, maxQueue: 1, queueTimeout: '50ms' },
    curt: { targets: [upstream.url], maxInFlight: 1, maxQueue: 0 },
    sockets: { targets: [sockets.url], maxInFlight: 1, maxQueue: 1, queueTimeout: '1m' },
  }
  const gateway = await startGateway(t, Object.fromEntries(Object.keys(upstreams).map(name => [name, ''])), {
    upstreams,
  })
  const ask = (path: string) => openConnection(t, gateway.url).send(get(path))
  const queued = async (name: string): Promise<number> =>
    sampleOf(await scrape(gateway), 'sidegate_upstream_pending_requests', `"${name}"`)
  const busy = async (name: string): Promise<number> =>
    sampleOf(await scrape(gateway), 'sidegate_upstream_errors_total', `"${name}"`, '"busy"')
  const isRefusal = (answer: RawAnswer): void => {
    t.match(JSON.parse(answer.body.toString()), { status: 503, code: 'UPSTREAM_BUSY' })
    t.equal(headerOf(answer, 'retry-after'), '1')
  }

  await t.test('the next one waits, one more is refused at once, and the line moves on', async t => {
    const first = ask('/narrow/1')
    await eventually(() => held.length === 1)
    const second = ask('/narrow/2')
    await eventually(async () => (await queued('narrow')) === 1)

    isRefusal(await ask('/narrow/3').answer())
    t.equal(held.length, 1, 'the second one waits here')
    answerNext()
    t.equal((await first.answer()).status, 200)
    await eventually(() => held.length === 1)
    answerNext()
    t.equal((await second.answer()).status, 200)
    await eventually(async () => (await queued('narrow')) === 0 && (await busy('narrow')) === 1)
  })

  await t.test('a client that leaves makes room in the queue and at the upstream', async t => {
    const first = ask('/narrow/1')
    await eventually(() => held.length === 1)
    const second = ask('/narrow/2')
    await eventually(async () => (await queued('narrow')) === 1)
    second.close()
    await eventually(async () => (await queued('narrow')) === 0)
    const third = ask('/narrow/3')
    await eventually(async () => (await queued('narrow')) === 1)

    first.close()
    await eventually(() => held.length === 2)
    held.shift()
    answerNext()
    t.equal((await third.answer()).status, 200)
  })

  await t.test('no request waits for long', async t => {
    const first = ask('/hasty/1')
    await eventually(() => held.length === 1)

    isRefusal(await ask('/hasty/2').answer())
    answerNext()
    t.equal((await first.answer()).status, 200)
  })

  await t.test('without a queue no request waits', async t => {
    const first = ask('/curt/1')
    await eventually(() => held.length === 1)

    isRefusal(await ask('/curt/2').answer())
    answerNext()
    t.equal((await first.answer()).status, 200)
  })

  await t.test('a WebSocket counts for as long as it is open, and waits as others do', async t => {
    const connect = () => openConnection(t, gateway.url).send(handshake('/sockets/echo'))
    const first = connect()
    t.equal((await first.answer()).status, 101)
    const second = connect()
    await eventually(async () => (await queued('sockets')) === 1)
    isRefusal(await connect().answer())

    first.close()
    t.equal((await second.answer()).status, 101)
    await eventually(async () => (await queued('sockets')) === 0)
  })
})
