/**
 * Runs the samples of nginx and Caddy with nginx and Caddy, and tests the client's answers and the request that the
 * service gets.
 */
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { sampleOf, scrape } from '../gateway/support/running.ts'
import { eventually } from '../support/eventually.ts'
import { headerOf } from '../support/raw-answer.ts'
import { ask } from '../support/raw-client.ts'
import { fieldOf } from '../support/recording-upstream.ts'
import type { TestConfig } from '../support/sidegate.ts'
import { caddy, nginx, type Plugged, startPlugged } from './plugins.ts'

const secret = 'demo-secret'

/**
 * Two clients besides that of the sample: one that may only read, and one whose plan is a single request. The
 * identity of the caller is signed as well.
 */
const withClients = (config: TestConfig): TestConfig => {
  const [demo] = config.clients as readonly TestConfig[]
  const groupings = config.groupings as readonly TestConfig[]
  return {
    ...config,
    groupings: groupings.map(grouping => (grouping.name === 'Accounts' ? { ...grouping, identity: 'both' } : grouping)),
    plans: { 'default-plan': { rate: '1000/1second' }, small: { rate: '1/1hour' } },
    clients: [
      { ...demo, plan: 'default-plan' },
      { ...demo, client_id: 'reader', scope: 'accounts:read', plan: 'default-plan' },
      { ...demo, client_id: 'small', plan: 'small' },
    ],
  }
}

/** A bearer token, got through the gateway that clients see. */
const tokenOf = async ({ url }: Plugged, client_id: string): Promise<string> => {
  const headers = { authorization: `Basic ${btoa(`${client_id}:${secret}`)}` }
  const body = new URLSearchParams({ grant_type: 'client_credentials' })
  const answer = await fetch(`${url}/token`, { method: 'POST', headers, body })
  const { access_token } = (await answer.json()) as { access_token?: string }
  if (access_token === undefined) throw new Error(`no token for ${client_id}: ${answer.status}`)
  return access_token
}

const identity = ['client-id', 'subject', 'scope', 'grouping'].map(name => `x-sidegate-${name}`)

/** Every name that Sidegate has, in answers to checks or in requests that it forwards. */
const sidegateNames = [...identity, 'x-sidegate-assertion', 'x-sidegate-status']

/** Everything that claims to be of Sidegate, in any spelling, with something to say. */
const claimsOf = ({ service }: Plugged): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (service.requests.at(-1)?.fields ?? [])
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => name.includes('sidegate') && value !== ''),
  )

const holdsBehind = async (t: Test, gateway: Plugged): Promise<void> => {
  const { url, sidegate, service } = gateway
  const tokens = {
    demo: await tokenOf(gateway, 'demo'),
    reader: await tokenOf(gateway, 'reader'),
    small: await tokenOf(gateway, 'small'),
  }
  const call = (client_id: keyof typeof tokens, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { ...init, headers: { authorization: `Bearer ${tokens[client_id]}`, ...init.headers } })
  /** Nothing of what was refused has reached the service. */
  const isUntouched = async (t: Test, ask: () => Promise<Response>): Promise<Response> => {
    const before = service.requests.length
    const answer = await ask()
    t.equal(service.requests.length, before, 'the service has seen nothing')
    return answer
  }

  t.test('an authorized caller is let in, and the service gets its identity', async t => {
    const answer = await call('demo', '/accounts/1?page=2', { headers: { 'x-request-id': 'forged' } })

    t.equal(answer.status, 200)
    t.match(answer.headers.get('ratelimit'), /^"default-plan";r=\d+;t=1$/)
    const seen = service.requests.at(-1)
    t.match(seen, { method: 'GET', target: '/accounts/1?page=2' })
    t.same(
      identity.map(name => fieldOf(seen, name)),
      ['demo', 'demo', 'accounts:read accounts:write', 'Accounts'],
    )
    const id = fieldOf(seen, 'x-request-id')
    t.not(id, 'forged')
    t.equal(answer.headers.get('x-request-id'), id, 'and so is the client')
    await eventually(() => sidegate.output.some(line => line.includes(`"request_id":"${id}"`)))
    for (const name of ['authorization', 'dpop']) t.equal(fieldOf(seen, name), undefined, name)
  })

  t.test('the service can verify the identity of the caller by its signature', async t => {
    await call('demo', '/accounts/1')

    const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
    const { payload } = await jwtVerify(fieldOf(service.requests.at(-1), 'x-sidegate-assertion') ?? '', keys, {
      typ: 'sidegate-assertion+jwt',
      audience: `${url.replace('127.0.0.1', 'localhost')}/accounts`,
    })
    t.match(payload, { sub: 'demo', scope: 'accounts:read accounts:write', grouping: 'Accounts' })
  })

  t.test('a body goes to the service, and no part of it to Sidegate', async t => {
    const body = 'x'.repeat(100_000)
    const answer = await call('demo', '/accounts', { method: 'POST', body })

    t.equal(answer.status, 200)
    t.match(service.requests.at(-1), { method: 'POST', target: '/accounts', body })
  })

  t.test('a WebSocket is asked for at the service, and no other protocol is', async t => {
    const asked = [
      ['websocket', 'websocket'],
      ['WebSocket', 'websocket'],
      ['h2c', undefined],
      ['websocket, h2c', undefined],
    ] as const
    for (const [protocol, seen] of asked) {
      const upgrade = `Connection: upgrade, close\r\nUpgrade: ${protocol}\r\n`
      await ask(url, `GET /accounts/health HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`)
      t.equal(fieldOf(service.requests.at(-1), 'upgrade')?.toLowerCase(), seen, protocol)
    }
  })

  t.test('a request without a token gets 401 with a challenge', async t => {
    const answer = await isUntouched(t, () => fetch(`${url}/accounts/1`))

    t.equal(answer.status, 401)
    t.match(answer.headers.get('www-authenticate'), /^Bearer realm="sidegate", resource_metadata="http:/)
  })

  t.test('a token without the scope is refused: 403', async t => {
    const answer = await isUntouched(t, () => call('reader', '/accounts', { method: 'POST', body: 'x' }))

    t.equal(answer.status, 403)
    t.match(answer.headers.get('www-authenticate'), /error="insufficient_scope", scope="accounts:write"/)
  })

  t.test('a client over its plan gets 429 with the time to wait', async t => {
    t.equal((await call('small', '/accounts/1')).status, 200)
    const answer = await isUntouched(t, () => call('small', '/accounts/1'))

    t.equal(answer.status, 429)
    t.match(answer.headers.get('retry-after'), /^\d+$/)
    t.match(answer.headers.get('ratelimit'), /^"small";r=0;t=\d+$/)
  })

  t.test('what is not published is not there, whatever the gateway forwards', async t => {
    const answers = [
      ['GET', '/accountsx', 404],
      ['DELETE', '/accounts/1', 405],
      ['GET', '/check', 404],
    ] as const

    for (const [method, path, status] of answers) {
      const answer = await isUntouched(t, () => call('demo', path, { method }))
      t.equal(answer.status, status, `${method} ${path}`)
    }
  })

  t.test('a path that can be read in two ways is refused', async t => {
    const before = service.requests.length
    for (const target of ['/accounts/%2e%2e/x', '/accounts//health', '/accounts/a%2Fb', '/accounts/./health']) {
      const { status } = await ask(url, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      t.ok(status === 400 || status === 404, `${target}: ${status}`)
    }
    t.equal(service.requests.length, before)
  })

  t.test('what a client says about itself does not arrive', async t => {
    const claims = sidegateNames.flatMap(name => [name, name.replaceAll('-', '_'), name.toUpperCase()])
    const lines = claims.map(name => `${name}: admin\r\n`).join('')
    const head = `GET /accounts/health HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`
    const answer = await ask(url, head)

    t.equal(answer.status, 200)
    t.equal(headerOf(answer, 'ratelimit'), undefined, 'it is not limited')
    t.same(claimsOf(gateway), { 'x-sidegate-grouping': 'Accounts' })
  })

  t.test('what a client says about the request does not change which one is asked about', async t => {
    const headers = {
      'x-original-uri': '/accounts/health',
      'x-original-method': 'GET',
      'x-forwarded-uri': '/accounts/health',
      'x-forwarded-method': 'GET',
    }
    const answer = await isUntouched(t, () => fetch(`${url}/accounts/1`, { headers }))

    t.equal(answer.status, 401)
  })

  t.test('each counts for the operation that it is a request of, with the status that its client saw', async t => {
    const metrics = await scrape(sidegate)
    const counted = (...labels: readonly string[]): number =>
      sampleOf(metrics, 'sidegate_http_requests_total', 'grouping="Accounts"', ...labels)

    for (const code of [200, 401, 429]) t.ok(counted('operation="GET /accounts/**"', `code="${code}"`) > 0, `${code}`)
    t.equal(counted('operation="POST /accounts/**"', 'method="POST"', 'code="403"'), 1)
    t.equal(sampleOf(metrics, 'sidegate_http_requests_in_flight'), 0)
    t.ok(sampleOf(metrics, 'sidegate_plan_decisions_total', 'plan="small"', 'decision="denied"') > 0)
  })

  t.test('nothing is forwarded while Sidegate is unavailable, even if it needs no credentials', async t => {
    sidegate.kill('SIGKILL')
    await sidegate.exited
    await eventually(() =>
      fetch(sidegate.url).then(
        () => false,
        () => true,
      ),
    )

    const answer = await isUntouched(t, () => call('demo', '/accounts/health'))

    t.ok(answer.status >= 500, `${answer.status}`)
  })
}

for (const program of [nginx, caddy]) {
  const [name = ''] = program.sample.split('/')
  t.test(`behind ${name}`, async t => holdsBehind(t, await startPlugged(t, program, withClients)))
}
