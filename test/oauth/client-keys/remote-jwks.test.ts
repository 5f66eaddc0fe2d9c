import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { OAuthError } from '../../../src/errors.ts'
import { isFetchable } from '../../../src/oauth/client-keys/fetch-jwks.ts'
import { findAmong } from '../../../src/oauth/client-keys/key-source.ts'
import { createKeySource } from '../../../src/oauth/client-keys/keyring.ts'
import { createManualClock } from '../support/authorization-server.ts'
import { type ClientKey, createClientKey, keySetOf } from '../support/client-keys.ts'

const first = await createClientKey('ES256', 'first')
const second = await createClientKey('ES256', 'second')

/** The response of a `jwks_uri`. */
const answering =
  (keys: readonly ClientKey[], headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(200, headers).end(JSON.stringify(keySetOf(...keys)))

const failing: RequestListener = (_request, response) => response.writeHead(500).end('{"keys":[]}')

/** A server with the keys of a client, and the source that fetches them. */
const start = async (t: Test, listener: RequestListener) => {
  const clock = createManualClock()
  const state = { listener, fetches: 0 }
  const server = createServer((request, response) => {
    state.fetches++
    state.listener(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`
  const reports: string[] = []
  const source = createKeySource({ kind: 'uri', uri }, clock, (host, reason) => reports.push(`${host}: ${reason}`))
  /** Whether the key is found: `no`, or the error's code and Retry-After if the key set is unavailable. */
  const find = async ({ kid }: { readonly kid: string }): Promise<string> => {
    try {
      return (await findAmong(source, keys => keys.find(key => key.kid === kid))) ? 'yes' : 'no'
    } catch (error) {
      if (error instanceof OAuthError) return `${error.code} ${error.headers['retry-after']}`
      throw error
    }
  }
  return { clock, state, source, find, reports, host: new URL(uri).host }
}

t.test('keys are fetched when they are first needed, once for all waiting requests', async t => {
  const { state, find } = await start(t, answering([first]))
  t.equal(state.fetches, 0)

  const found = await Promise.all(Array.from({ length: 20 }, () => find(first)))

  t.ok(found.every(answer => answer === 'yes'))
  t.equal(state.fetches, 1)
})

t.test('cached keys are returned at once, without a promise', async t => {
  const { source, find } = await start(t, answering([first]))
  await find(first)

  t.match(source.current(), [{ kid: 'first' }])
})

t.test('keys are cached for five minutes, or for the max-age of the response between a minute and an hour', async t => {
  for (const [cacheControl, keptSec] of [
    ['', 300],
    ['no-store', 300],
    ['max-age=120', 120],
    ['public, max-age=600', 600],
    ['max-age=1', 60],
    ['max-age=0', 60],
    ['max-age=86400', 3600],
    ['s-maxage=600', 300],
  ] as const) {
    const { clock, state, find } = await start(t, answering([first], { 'cache-control': cacheControl }))
    await find(first)

    clock.advanceSec(keptSec - 1)
    await find(first)
    t.equal(state.fetches, 1, `${cacheControl} for ${keptSec} s`)
    clock.advanceSec(1)
    await find(first)
    t.equal(state.fetches, 2, `${cacheControl} no longer`)
  }
})

t.test('a clock that is set back neither keeps a key longer nor delays a fetch', async t => {
  const { clock, state, find } = await start(t, answering([first]))
  await find(first)
  clock.setBackSec(7200)
  state.listener = answering([second])

  clock.advanceSec(30)
  t.equal(await find(second), 'yes', 'after the pause')
  clock.setBackSec(7200)
  state.listener = answering([])
  clock.advanceSec(300)
  t.equal(await find(second), 'no', 'when the set is no longer fresh')
})

t.test('a new key is found by another fetch', async t => {
  const { clock, state, find } = await start(t, answering([first]))
  await find(first)
  clock.advanceSec(30)
  state.listener = answering([first, second])

  t.equal(await find(second), 'yes')
  t.equal(state.fetches, 2)
})

t.test('a removed key is accepted only while its set is cached', async t => {
  const { clock, state, find } = await start(t, answering([first, second]))
  await find(first)
  state.listener = answering([second])

  t.equal(await find(first), 'yes')
  clock.advanceSec(300)
  t.equal(await find(first), 'no')
})

t.test('a flood of unknown keys causes one fetch in thirty seconds', async t => {
  const { clock, state, find } = await start(t, answering([first]))
  const flood = (): Promise<readonly string[]> =>
    Promise.all(Array.from({ length: 100 }, (_, i) => find({ kid: `unknown-${i}` })))

  t.ok((await flood()).every(answer => answer === 'no'))
  t.equal(state.fetches, 1)
  clock.advanceSec(29)
  await flood()
  t.equal(state.fetches, 1)
  clock.advanceSec(1)
  await flood()
  await flood()
  t.equal(state.fetches, 2)
  t.equal(await find(first), 'yes', 'the known key stays valid')
})

t.test('while the keys cannot be fetched the last ones are accepted for an hour, and not longer', async t => {
  const { clock, state, find } = await start(t, answering([first]))
  await find(first)
  state.listener = failing

  clock.advanceSec(300)
  t.equal(await find(first), 'yes')
  t.equal(await find(second), 'no')
  t.equal(state.fetches, 2)
  clock.advanceSec(3599)
  t.equal(await find(first), 'yes')
  clock.advanceSec(1)
  t.equal(await find(first), 'temporarily_unavailable 29')
  state.listener = answering([first])
  clock.advanceSec(29)
  t.equal(await find(first), 'yes', 'they are accepted again after a successful fetch')
})

t.test('keys that were never fetched are requested again after thirty seconds, not by every request', async t => {
  const { clock, state, find } = await start(t, failing)

  t.equal(await find(first), 'temporarily_unavailable 30')
  t.equal(await find(first), 'temporarily_unavailable 30')
  t.equal(state.fetches, 1)
  state.listener = answering([first])
  clock.advanceSec(30)
  t.equal(await find(first), 'yes')
})

const text =
  (body: string): RequestListener =>
  (_request, response) =>
    response.end(body)

/** A key set of exactly so many bytes. */
const padded = (bytes: number): string => {
  const jwks = JSON.stringify(keySetOf(first))
  return `${jwks}${' '.repeat(bytes - jwks.length)}`
}

t.test('a response that is not a key set, or has more than 64 KiB, is refused', async t => {
  t.equal(await (await start(t, text(padded(64 * 1024)))).find(first), 'yes')
  for (const body of ['', 'no json', 'null', '[]', '{}', '{"keys":{}}', padded(64 * 1024 + 1)]) {
    t.match(await (await start(t, text(body))).find(first), /^temporarily_unavailable/, body.slice(0, 20))
  }
  t.equal(await (await start(t, answering([first], { location: '/' }))).find(first), 'yes')
})

t.test('a redirect is not followed', async t => {
  const { state, find } = await start(t, ({ url }, response) => {
    if (url === '/jwks.json') response.writeHead(302, { location: '/elsewhere' }).end()
    else response.end(JSON.stringify(keySetOf(first)))
  })

  t.match(await find(first), /^temporarily_unavailable/)
  t.equal(state.fetches, 1)
})

t.test('a fetch from a server that sends without end is cancelled at its deadline', async t => {
  const { find } = await start(t, (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 100)
    response.once('close', () => clearInterval(timer))
  })

  t.match(await find(first), /^temporarily_unavailable/)
})

t.test('one invalid key does not affect the others', async t => {
  const bad = [null, 'x', { kty: 'EC' }, { kty: 'oct', k: 'AA' }, { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }]
  const { find } = await start(t, text(JSON.stringify({ keys: [...bad, first.publicJwk] })))

  t.equal(await find(first), 'yes')
})

t.test('keys are fetched over https, or from this machine', async t => {
  for (const uri of ['https://a.example/jwks', 'http://127.0.0.1:1/', 'http://localhost/', 'http://[::1]/']) {
    t.ok(isFetchable(uri), uri)
  }
  for (const uri of [
    'http://a.example/jwks',
    'http://127.0.0.1.a.example/',
    'http://localhost.a.example/',
    'https://user@a.example/',
    'https://user:word@a.example/',
    'file:///etc/passwd',
    'data:application/json,{"keys":[]}',
    'a.example',
    '',
  ]) {
    t.notOk(isFetchable(uri), uri)
  }
  const source = createKeySource({ kind: 'uri', uri: 'http://a.example/jwks' }, createManualClock(), () => undefined)
  await t.rejects(Promise.resolve(source.current()), { code: 'temporarily_unavailable' })
})

t.test('a failed fetch is reported once in each pause, without text of the response', async t => {
  const listeners: Readonly<Record<string, RequestListener>> = {
    'the jwks_uri returned status 500': failing,
    'the jwks_uri did not return JSON': (_request, response) => response.end('s3cret'),
    'the jwks_uri did not return a JWK set': (_request, response) => response.end('{"key":"s3cret"}'),
    'unexpected redirect': (_request, response) => response.writeHead(302, { location: '/s3cret' }).end(),
    UND_ERR_SOCKET: request => request.socket.destroy(),
  }
  for (const [reason, listener] of Object.entries(listeners)) {
    const { find, clock, reports, host } = await start(t, listener)
    await find(first)
    await find(first)
    t.same(reports, [`${host}: ${reason}`])

    clock.advanceSec(30)
    await Promise.all([find(first), find(first)])
    t.equal(reports.length, 2, reason)
  }
})

t.test('a successful fetch is not reported', async t => {
  const { find, reports } = await start(t, answering([first]))
  await find(first)
  await find(second)

  t.same(reports, [])
})
