/** An open WebSocket and an open event stream end when the client of their token is removed. */
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'undici'
import { systemClock } from '../../../src/clock.ts'
import { hashGeneratedSecret } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { openStore } from '../../../src/stores/open.ts'
import { sidegate } from '../../cli/run.ts'
import { configFileOf, reload } from '../../cluster/support/config-file.ts'
import { acceptedConfig, makeFolder } from '../../config/support.ts'
import { eventually } from '../../support/eventually.ts'
import { openConnection } from '../../support/raw-client.ts'
import { startRedis } from '../../support/redis.ts'
import type { TestConfig } from '../../support/sidegate.ts'
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts'
import { client, clientSecret, fetchToken, startGateway } from '../support/running.ts'
import { type HeldUpstream, startHeldUpstream } from './support/held-upstream.ts'

/** Both kinds of streams, opened with one token; each has passed something on. */
const openStreams = async (t: Test, origin: string, token: string, held: HeldUpstream) => {
  const authorization = `Bearer ${token}`
  const webSocket = new WebSocket(`${origin.replace('http', 'ws')}/up-guarded/echo`, { headers: { authorization } })
  t.teardown(() => webSocket.close())
  const closed = new Promise<number>(resolve => webSocket.addEventListener('close', event => resolve(event.code)))
  const echoes: unknown[] = []
  webSocket.addEventListener('message', event => echoes.push(event.data))
  await once(webSocket, 'open')
  const events = openConnection(t, origin)
  events.send(`GET /events-guarded/a HTTP/1.1\r\nHost: gw.test\r\nAuthorization: ${authorization}\r\n\r\n`)
  const upstreamSocket = await held.next()
  upstreamSocket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
  /** Both pass on a text that was not passed on before. */
  const passOn = async (text: string): Promise<void> => {
    webSocket.send(text)
    upstreamSocket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
    await eventually(() => echoes.includes(text) && events.received.includes(text))
  }
  await passOn('begun')
  return { closed, events, upstreamSocket, passOn }
}

/** As `sidegate client new --save` does, with a secret that the test knows. */
const putClient = async (t: Test, url: string, members: TestConfig): Promise<void> => {
  const { store: options } = await acceptedConfig(t, { store: url })
  const store = await openStore(options, systemClock)
  await store.clients.put(String(members.client_id), { members: JSON.stringify(members), disabled: false }, undefined)
  await store.close()
}

const ends = async (t: Test, streams: Awaited<ReturnType<typeof openStreams>>): Promise<void> => {
  t.equal(await streams.closed, 1008)
  await eventually(() => streams.events.state !== 'open')
  t.equal((await streams.events.answer()).isComplete, false, 'the event stream breaks off')
  await eventually(() => streams.upstreamSocket.destroyed)
}

t.test('an open stream ends when a reload removes its client from the file', async t => {
  const upstream = await startWebSocketUpstream(t)
  const held = await startHeldUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url, events: held.url })
  const { url } = gateway
  const removed = await openStreams(t, url, await fetchToken(url), held)
  const kept = await openStreams(t, url, await fetchToken(url, {}, 'other'), held)

  await reload(gateway, { clients: [client('other')] })

  await ends(t, removed)
  await kept.passOn('still here')
})

/** Each attempt before the worker knows the client is a failure. */
const login = { failures: '100000/1minute' }

for (const kind of ['sqlite', 'redis'] as const) {
  t.test(`${kind}: an open stream ends when its client is deleted from the store, after a reload too`, async t => {
    const upstream = await startWebSocketUpstream(t)
    const held = await startHeldUpstream(t)
    const redis = kind === 'redis' ? await startRedis(t) : undefined
    const store = redis?.url ?? `sqlite:${join(makeFolder(t), 'sidegate.db')}`
    const gateway = await startGateway(t, { up: upstream.url, events: held.url }, { store, login })
    const { url } = gateway
    const kept = await openStreams(t, url, await fetchToken(url), held)
    const { client_secret: _, ...members } = client('stored')
    const client_secret_hash = hashGeneratedSecret(new Secret(clientSecret))
    await putClient(t, store, { ...members, client_secret_hash })
    await eventually(() => fetchToken(url, {}, 'stored'))
    const before = await openStreams(t, url, await fetchToken(url, {}, 'stored'), held)
    await reload(gateway, { clients: [client('app')] })
    const after = await openStreams(t, url, await fetchToken(url, {}, 'stored'), held)
    await before.passOn('after the reload')

    const { code, stderr } = await sidegate(['client', 'delete', 'stored', '--config', configFileOf(gateway)])

    t.equal(code, 0, stderr)
    await ends(t, before)
    await ends(t, after)
    await kept.passOn('still here')
  })
}
