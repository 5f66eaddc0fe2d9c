import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'undici'
import { eventually } from '../../support/eventually.ts'
import { startWebSocketUpstream } from '../../support/websocket-upstream.ts'
import { clientSecret, fetchToken, startGateway } from '../support/running.ts'

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

t.test('a WebSocket is closed when it is silent for too long, or its token ends', async t => {
  const upstream = await startWebSocketUpstream(t)
  const names = ['up', 'quiet', 'outliving']
  const { url } = await startGateway(t, Object.fromEntries(names.map(name => [name, upstream.url])), {
    tokens: { accessToken: { lifetime: '2s' } },
    upstreams: {
      up: { targets: [upstream.url] },
      quiet: { targets: [upstream.url], webSocketIdleTimeout: '100ms' },
      outliving: { targets: [upstream.url], webSocketsOutliveTokens: true },
    },
  })

  await t.test('silent for too long: 1001', async t => {
    const open = await openWebSocket(t, url, '/quiet/echo')

    t.equal(await open.closed, 1001)
    await eventually(() => upstream.open().length === 0)
  })

  await t.test('expired: 1008, unless it may outlive its token', async t => {
    const token = await fetchToken(url)
    const open = await openWebSocket(t, url, '/up-guarded/echo', token)
    const outliving = await openWebSocket(t, url, '/outliving-guarded/echo', token)
    const anybodys = await openWebSocket(t, url, '/up/echo')

    t.equal(await open.closed, 1008)
    await outliving.echo('still here')
    await anybodys.echo('me too')
  })
})

t.test('a WebSocket goes on until its token is revoked, or the gateway stops', async t => {
  const upstream = await startWebSocketUpstream(t)
  const gateway = await startGateway(t, { up: upstream.url }, { shutdown: { delay: '10m', timeout: '10m' } })
  const { url } = gateway
  const [token, other] = [await fetchToken(url), await fetchToken(url)]
  const open = await openWebSocket(t, url, '/up-guarded/echo', token)
  const stays = await openWebSocket(t, url, '/up-guarded/echo', other)

  await t.test('revoked: 1008', async t => {
    await fetch(`${url}/revoke`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`app:${clientSecret}`)}` },
      body: new URLSearchParams({ token }),
    })

    t.equal(await open.closed, 1008)
    await stays.echo('still here')
  })

  await t.test('stopped: 1001 when the delay is over, and nobody is held up', async t => {
    gateway.kill('SIGTERM')
    await eventually(async () => (await fetch(`${gateway.admin}/readyz`)).status === 503)
    await stays.echo('and here')
    gateway.kill('SIGTERM')

    t.equal(await stays.closed, 1001)
    t.equal(await gateway.exited, 0)
  })
})
