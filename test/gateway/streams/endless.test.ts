import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'undici'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts'
import { clientSecret, fetchToken, startGateway } from '../support/running.ts'
import { type HeldUpstream, startHeldUpstream } from './support/held-upstream.ts'

/** An open WebSocket, what it was told, and how it was closed. */
const openWebSocket = async (t: Test, origin: string, path: string, token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, { headers })
  t.teardown(() => socket.close())
  const echoes: unknown[] = []
  socket.addEventListener('message', event => echoes.push(event.data))
  const closed = new Promise<number>(resolve => socket.addEventListener('close', event => resolve(event.code)))
  await once(socket, 'open')
  return {
    closed,
    async echo(text: string): Promise<void> {
      socket.send(text)
      await eventually(() => echoes.includes(text))
    },
  }
}

/** An event stream under way, and what it brings. */
const openEvents = async (t: Test, origin: string, path: string, upstream: HeldUpstream, token?: string) => {
  const proof = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  const connection = openConnection(t, origin).send(`GET ${path} HTTP/1.1\r\nHost: gw.test\r\n${proof}\r\n`)
  const socket = await upstream.next()
  socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
  return {
    connection,
    /** Goes with the stream. */
    socket,
    async say(event: string): Promise<void> {
      socket.write(`${event.length.toString(16)}\r\n${event}\r\n`)
      await eventually(() => connection.received.includes(event))
    },
  }
}

t.test('a WebSocket is closed when it is idle for too long, or its token ends', async t => {
  const upstream = await startWebSocketUpstream(t)
  const held = await startHeldUpstream(t)
  const names = ['up', 'quiet', 'outliving', 'events', 'outliving-events']
  const { url } = await startGateway(t, Object.fromEntries(names.map(name => [name, upstream.url])), {
    tokens: { accessToken: { lifetime: '2s' } },
    upstreams: {
      up: { targets: [upstream.url] },
      quiet: { targets: [upstream.url], webSocketIdleTimeout: '100ms' },
      outliving: { targets: [upstream.url], webSocketsOutliveTokens: true },
      events: { targets: [held.url] },
      'outliving-events': { targets: [held.url], eventStreamsOutliveTokens: true },
    },
  })

  await t.test('idle for too long: 1001', async t => {
    const open = await openWebSocket(t, url, '/quiet/echo')

    t.equal(await open.closed, 1001)
    await eventually(() => upstream.open().length === 0)
  })

  await t.test('expired: 1008, unless it may outlive its token', async t => {
    const token = await fetchToken(url)
    const open = await openWebSocket(t, url, '/up-guarded/echo', token)
    const outliving = await openWebSocket(t, url, '/outliving-guarded/echo', token)
    const anonymous = await openWebSocket(t, url, '/up/echo')

    t.equal(await open.closed, 1008)
    await outliving.echo('still here')
    await anonymous.echo('me too')
  })

  await t.test('an event stream breaks off when its token has expired, unless it may outlive it', async t => {
    const token = await fetchToken(url)
    const events = await openEvents(t, url, '/events-guarded/a', held, token)
    await events.say('data: 1\n\n')
    const outliving = await openEvents(t, url, '/outliving-events-guarded/a', held, token)
    const anonymous = await openEvents(t, url, '/events/a', held)

    t.notOk((await events.connection.answer()).isComplete)
    await eventually(() => events.socket.destroyed)
    await outliving.say('data: still here\n\n')
    await anonymous.say('data: me too\n\n')
  })

  await t.test('an answer of another kind outlives its token', async t => {
    const other = openConnection(t, url)
    other.send(`GET /events-guarded/a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${await fetchToken(url)}\r\n\r\n`)
    const socket = await held.next()
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n')
    const last = await openEvents(t, url, '/events-guarded/a', held, await fetchToken(url))
    await last.connection.ended()
    socket.end('1\r\na\r\n0\r\n\r\n')

    t.match(await other.answer(), { isComplete: true })
  })
})

t.test('a WebSocket goes on until its token is revoked, or the gateway stops', async t => {
  const upstream = await startWebSocketUpstream(t)
  const held = await startHeldUpstream(t)
  const targets = { up: upstream.url, events: held.url }
  const gateway = await startGateway(t, targets, { shutdown: { delay: '10m', timeout: '10m' } })
  const { url } = gateway
  const [token, other] = [await fetchToken(url), await fetchToken(url)]
  const open = await openWebSocket(t, url, '/up-guarded/echo', token)
  const stays = await openWebSocket(t, url, '/up-guarded/echo', other)
  const events = await openEvents(t, url, '/events-guarded/a', held, token)
  const eventsStay = await openEvents(t, url, '/events-guarded/a', held, other)

  await t.test('revoked: 1008', async t => {
    await fetch(`${url}/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`app:${clientSecret}`)}` },
      body: new URLSearchParams({ token }),
    })

    t.equal(await open.closed, 1008)
    await events.connection.ended()
    t.notOk((await events.connection.answer()).isComplete, 'the event stream breaks off')
    await stays.echo('still here')
    await eventsStay.say('data: still here\n\n')
  })

  await t.test('stopped: 1001 when the delay is over, and the process does not wait', async t => {
    gateway.kill('SIGTERM')
    await eventually(async () => (await fetch(`${gateway.admin}/readyz`)).status === 503)
    await stays.echo('and here')
    await eventsStay.say('data: and here\n\n')
    gateway.kill('SIGTERM')

    t.equal(await stays.closed, 1001)
    t.notOk((await eventsStay.connection.answer()).isComplete, 'the event stream breaks off')
    t.equal(await gateway.exited, 0)
  })
})
