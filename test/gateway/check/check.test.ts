/** Forward auth as each of the four proxies sees it. */
import type { OutgoingHttpHeaders } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.ts'
import { ask, openConnection } from '../../support/raw-client.ts'
import { startStrictUpstream } from '../../support/recording-upstream.ts'
import { clientSecret, fetchToken, sampleOf, scrape } from '../support/running.ts'
import { type Answer, askingOf, type Gateway, gateways, send, startAsked } from './support/asking.ts'

const upstream = await startStrictUpstream(t)
const gateway = await startAsked(t, upstream.url)
const token = await fetchToken(gateway.url)
const bearer = { authorization: `Bearer ${token}` }

const askAbout = (
  asking: Gateway,
  method: string,
  uri: string,
  headers: OutgoingHttpHeaders = {},
  from?: string,
): Promise<Answer> => send(gateway, askingOf[asking](method, uri), headers, from)

/** The status that Sidegate decided on; nginx gets 403 for statuses that it does not accept. */
const decisionOf = ({ status, headers }: Answer): number => Number(headers['x-sidegate-status'] ?? status)

const codeOf = ({ body }: Answer): string => (JSON.parse(body) as { code: string }).code

/** A test for each of the four. */
const forEach = (says: string, holds: (t: Test, asking: Gateway) => Promise<void>): void => {
  for (const asking of gateways) t.test(`${asking}: ${says}`, t => holds(t, asking))
}

forEach('an allowed request gets 200, its identity fields and no other fields', async (t, asking) => {
  const answer = await askAbout(asking, 'GET', '/accounts/1?page=2', { ...bearer, 'x-request-id': 'of-the-gateway' })

  t.equal(answer.status, 200)
  t.equal(answer.body, '')
  t.match(answer.headers, {
    'x-sidegate-client-id': 'app',
    'x-sidegate-subject': 'app',
    'x-sidegate-scope': 'read write',
    'x-sidegate-grouping': 'Accounts',
    'x-request-id': 'of-the-gateway',
    'cache-control': 'no-store',
    'ratelimit-policy': '"default-plan";q=100000;w=1',
    ratelimit: /^"default-plan";r=\d+;t=1$/,
  })
})

forEach('without a caller all identity fields are present and empty', async (t, asking) => {
  const answer = await askAbout(asking, 'GET', '/accounts/open')

  t.equal(answer.status, 200)
  t.match(answer.headers, { 'x-sidegate-client-id': '', 'x-sidegate-subject': '', 'x-sidegate-scope': '' })
  t.equal(answer.headers['x-sidegate-grouping'], 'Accounts')
})

forEach('the identity may be signed, in place of the other fields or beside them', async (t, asking) => {
  const keys = createRemoteJWKSet(new URL(`${gateway.url}/jwks`))
  for (const [identity, client_id] of [
    ['assertion', ''],
    ['both', 'app'],
  ]) {
    const { headers } = await askAbout(asking, 'GET', `/${identity}/1`, bearer)

    const { payload } = await jwtVerify(String(headers['x-sidegate-assertion']), keys, {
      typ: 'sidegate-assertion+jwt',
      issuer: gateway.url,
      audience: `${gateway.url}/${identity}`,
    })
    t.match(payload, { sub: 'app', client_id: 'app', scope: 'read write', grouping: identity })
    t.equal(headers['x-sidegate-client-id'], client_id)
    t.equal(headers['x-sidegate-grouping'], client_id && identity)
  }
  const unsigned = await askAbout(asking, 'GET', '/accounts/1', bearer)
  t.equal(unsigned.headers['x-sidegate-assertion'], '', 'said all the same, so that no client says it')
  const open = await askAbout(asking, 'GET', '/both/open')
  t.equal(open.headers['x-sidegate-assertion'], '', 'there is no assertion without an authenticated caller')
})

forEach('each refusal is what the client would hear here', async (t, asking) => {
  const reader = { authorization: `Bearer ${await fetchToken(gateway.url, { scope: 'read' })}` }
  const refusals = [
    ['GET', '/accounts/1', {}, 401, 'CREDENTIAL_MISSING'],
    ['GET', '/accounts/1', { authorization: 'Bearer x' }, 401, 'CREDENTIAL_INVALID'],
    ['GET', '/accounts/1?access_token=x', bearer, 400, 'CREDENTIAL_MALFORMED'],
    ['POST', '/accounts/1', reader, 403, 'SCOPE_INSUFFICIENT'],
    ['DELETE', '/accounts/1', bearer, 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/unpublished', bearer, 404, 'NOT_FOUND'],
    ['GET', '/accounts/../x', bearer, 400, 'BAD_REQUEST'],
    ['GET', '/accounts/a%2Fb', bearer, 400, 'BAD_REQUEST'],
    ['GET', '//accounts/open', bearer, 400, 'BAD_REQUEST'],
  ] as const

  for (const [method, uri, headers, status, code] of refusals) {
    const answer = await askAbout(asking, method, uri, headers)
    t.equal(decisionOf(answer), status, `${method} ${uri}`)
    t.equal(codeOf(answer), code, `${method} ${uri}`)
  }
})

forEach('forward auth does not find operations that Sidegate serves or forwards itself', async (t, asking) => {
  for (const [method, uri] of [
    ['POST', '/token'],
    ['GET', '/here/1'],
    ['GET', '/check-nginx'],
    ['GET', '/metadata'],
  ] as const) {
    const answer = await askAbout(asking, method, uri, bearer)
    t.equal(decisionOf(answer), 404, uri)
  }
})

forEach('HEAD may pass where GET may', async (t, asking) => {
  const answer = await askAbout(asking, 'HEAD', '/accounts/1', bearer)

  t.equal(answer.status, 200)
  t.equal(answer.headers['x-sidegate-client-id'], 'app')
})

forEach('a client whose credentials stand in the query is known', async (t, asking) => {
  const good = await askAbout(asking, 'GET', `/accounts/query?client_id=app&client_secret=${clientSecret}`)
  const bad = await askAbout(asking, 'GET', '/accounts/query?client_id=app&client_secret=x')

  t.equal(good.status, 200)
  t.equal(good.headers['x-sidegate-client-id'], 'app')
  t.equal(decisionOf(bad), 401)
})

forEach('a request from an address that is not trusted is refused without details', async (t, asking) => {
  const stranger = await askAbout(asking, 'GET', '/accounts/1', bearer, '127.0.0.2')
  const elsewhere = await askAbout(asking, 'GET', '/unpublished', bearer, '127.0.0.2')

  t.equal(stranger.status, 403)
  t.equal(codeOf(stranger), 'FORWARD_AUTH_CALLER_UNTRUSTED')
  t.equal(stranger.headers['x-sidegate-client-id'], undefined)
  t.equal(elsewhere.status, 403, 'of what is published neither')
})

t.test('an operation that another proxy forwards is 404 for a client of Sidegate', async t => {
  for (const method of ['GET', 'POST', 'DELETE', 'HEAD']) {
    const { status } = await send(gateway, { method, target: '/accounts/1', headers: bearer }, {}, '127.0.0.2')
    t.equal(status, 404, method)
  }
  t.equal(upstream.requests.length, 0, 'no wildcard of an upstream takes it')
})

t.test('a plan is charged as if the request had come here', async t => {
  const small = { authorization: `Bearer ${await fetchToken(gateway.url, {}, 'small')}` }

  t.equal((await askAbout('envoy', 'GET', '/accounts/1', small)).status, 200)
  const answer = await askAbout('caddy', 'GET', '/accounts/2', small)

  t.equal(answer.status, 429)
  t.match(answer.headers, { 'retry-after': /^\d+$/, ratelimit: /^"small";r=0;t=\d+$/ })
  t.equal(answer.headers['x-sidegate-status'], undefined)
})

t.test('nginx hears 403 for what it does not understand, and which it was', async t => {
  const cases = [
    ['GET', '/accounts/1', bearer, 200, '200'],
    ['GET', '/accounts/1', {}, 401, '401'],
    ['GET', '/unpublished', {}, 403, '404'],
    ['DELETE', '/accounts/1', {}, 403, '405'],
    ['GET', '/accounts//1', {}, 403, '400'],
  ] as const

  for (const [method, uri, headers, status, real] of cases) {
    const answer = await askAbout('nginx', method, uri, headers)
    t.equal(answer.status, status, `${method} ${uri}`)
    t.equal(answer.headers['x-sidegate-status'], real, `${method} ${uri}`)
  }
})

t.test('a request that does not name its original request, or names it twice, is refused with the reason', async t => {
  const cases: readonly (readonly [Gateway, OutgoingHttpHeaders])[] = [
    ['nginx', { 'x-original-method': 'GET' }],
    ['nginx', { 'x-original-uri': '/accounts/open' }],
    ['nginx', { 'x-original-method': 'GET', 'x-original-uri': ['/accounts/open', '/accounts/1'] }],
    ['nginx', { 'x-original-method': ['GET', 'POST'], 'x-original-uri': '/accounts/open' }],
    ['nginx', { 'x-original-method': 'GET', 'x-original-uri': '/accounts/open, /accounts/1' }],
    ['nginx', { 'x-original-method': 'GET', 'x-original-uri': 'http://a/accounts/open' }],
    ['nginx', { 'x-original-method': '"GET"', 'x-original-uri': '/accounts/open' }],
    // The fields of another gateway are a client's.
    ['nginx', { 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/accounts/open' }],
    ['caddy', { 'x-original-method': 'GET', 'x-original-uri': '/accounts/open' }],
    ['traefik', { 'x-forwarded-method': 'GET' }],
  ]

  for (const [asking, headers] of cases) {
    const answer = await send(gateway, { method: 'GET', target: `/check-${asking}`, headers: {} }, headers)
    t.equal(decisionOf(answer), 400, JSON.stringify(headers))
    t.equal(codeOf(answer), 'FORWARD_AUTH_REQUEST_INVALID', JSON.stringify(headers))
  }
})

t.test('of two ways to say it only that of the gateway counts', async t => {
  const forged = { 'x-original-method': 'GET', 'x-original-uri': '/accounts/open' }

  for (const asking of ['traefik', 'caddy', 'envoy'] as const) {
    t.equal((await askAbout(asking, 'GET', '/accounts/1', forged)).status, 401, asking)
  }
})

t.test('Envoy asks about the path that follows, not about less', async t => {
  for (const target of ['/check-envoy', '/check-envoy/', '/check-envoyaccounts/open', '/check-envoy*']) {
    const answer = await send(gateway, { method: 'GET', target, headers: {} })
    t.not(answer.headers['x-sidegate-grouping'], 'Accounts', target)
  }
  t.equal((await askAbout('envoy', 'GET', '/accounts/open/')).status, 200, 'a slash at the end leads nowhere else')
})

t.test('the length of a body that stays with the gateway is not waited for, and ends the connection', async t => {
  for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const connection = openConnection(t, gateway.url)
    connection.send(
      `GET /check-nginx HTTP/1.1\r\nHost: a\r\nX-Original-Method: GET\r\nX-Original-URI: /accounts/open\r\n${framing}\r\n\r\n`,
    )
    const answer = await connection.answer()
    t.equal(answer.status, 200, framing)
    t.equal(await connection.ended(), 'closed', framing)
  }
})

t.test('a connection without a body is kept for the next question', async t => {
  const connection = openConnection(t, gateway.url)
  const bytes =
    'GET /check-caddy HTTP/1.1\r\nHost: a\r\nX-Forwarded-Method: GET\r\nX-Forwarded-Uri: /accounts/open\r\n\r\n'

  t.equal((await connection.send(bytes).answer()).status, 200)
  t.equal((await connection.send(bytes).answer()).status, 200)
})

t.test('a WebSocket handshake that a gateway asks about is answered, not opened', async t => {
  const lines =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
  const original = 'X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /accounts/open'
  const { status } = await ask(gateway.url, `GET /check-caddy HTTP/1.1\r\nHost: a\r\n${original}\r\n${lines}\r\n\r\n`)

  t.equal(status, 200)
})

t.test('the request counts for its own operation, and its access line names the proxy', async t => {
  await askAbout('traefik', 'POST', '/accounts/counted', {})

  const isLine = (line: string): boolean => line.includes('"path":"/accounts/counted"')
  await eventually(() => gateway.output.some(isLine))
  t.match(JSON.parse(gateway.output.find(isLine) ?? ''), {
    grouping: 'Accounts',
    operation: 'POST /accounts/**',
    method: 'POST',
    status: 401,
    checked_for: 'traefik',
  })
  const metrics = await scrape(gateway)
  const labels = ['grouping="Accounts"', 'operation="POST /accounts/**"', 'method="POST"', 'code="401"']
  t.ok(sampleOf(metrics, 'sidegate_http_requests_total', ...labels) > 0)
  t.ok(sampleOf(metrics, 'sidegate_http_requests_total', 'grouping="Check"', 'code="403"') > 0, 'strangers')
  t.equal(sampleOf(metrics, 'sidegate_http_requests_total', 'grouping="Check"', 'code="200"'), 0)
  t.equal(sampleOf(metrics, 'sidegate_http_requests_in_flight'), 0)
})
