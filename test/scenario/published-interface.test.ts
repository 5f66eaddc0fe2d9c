import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { findFreePort } from '../support/free-port.ts'
import { fetchFreshMetrics } from '../support/fresh-metrics.ts'
import { type RunningSidegate, startSidegate } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'

/** Unlike any other text of the run, so that finding it anywhere means that it leaked. */
const secret = 'kept-to-itself-8d1f2a'
const basic = `Basic ${Buffer.from(`demo:${secret}`).toString('base64')}`

const demo = parse(readFileSync(join(import.meta.dirname, '../../config/sidegate.yaml'), 'utf8'))

/** The path and header fields of every request that reached the upstream. */
const upstreamRequests: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = []
const upstream = createServer((req, res) => {
  upstreamRequests.push({ url: req.url ?? '', headers: req.headers })
  res.end('{}')
}).listen(0, '127.0.0.1')
await once(upstream, 'listening')
t.teardown(() => {
  upstream.close()
  upstream.closeAllConnections()
})

/** config/sidegate.yaml as it is, but for its addresses and the demo client's secret. */
const start = async (): Promise<RunningSidegate> => {
  const listen = `127.0.0.1:${await findFreePort()}`
  const [client] = demo.clients
  const { store: _store, ...rest } = demo
  return startSidegate(t, {
    ...rest,
    issuer: `http://${listen}`,
    listen,
    admin: '127.0.0.1:0',
    workers: 2,
    upstreams: { accounts: { targets: [`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`] } },
    clients: [{ ...client, client_secret: secret }],
  })
}

const sidegate = await start()
const bodies: string[] = []

/** Asks, and keeps the answer's body to be looked through at the end. */
const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(sidegate.url + path, { redirect: 'manual', ...init })
  const body = await response.text()
  bodies.push(body, JSON.stringify([...response.headers]))
  return { status: response.status, headers: response.headers, body }
}

const post = (path: string, form: Readonly<Record<string, string>>, authorization = basic) =>
  ask(path, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) })

const tokenAnswer = z.object({ access_token: z.string(), token_type: z.literal('Bearer'), expires_in: z.number() })
const getToken = async (path: string): Promise<string> => {
  const { status, body } = await post(path, { grant_type: 'client_credentials' })
  t.equal(status, 200)
  return tokenAnswer.parse(JSON.parse(body)).access_token
}

const rows = [
  ['V1_Extension_2', 'POST /token'],
  ['V1_Extension_2', 'POST /introspect'],
  ['V1_Extension_1', 'GET /v1/metadata/oauth2'],
  ['Psd2-V1-Oauth', 'POST /v1/oauth2/token'],
  ['Psd2-V1-Oauth', 'POST /v1/oauth2/introspect'],
  ['Psd2-V1-Oauth', 'GET /psd2/oauth2/authorize'],
  ['Psd2-V1-Oauth', 'POST /psd2/oauth2/authorize'],
  ['Psd2-V1-Oauth', 'POST /oauth2/introspect'],
] as const

for (const path of ['/token', '/v1/oauth2/token']) {
  t.test(`POST ${path} issues tokens`, async t => {
    t.match(await getToken(path), /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })
}

for (const path of ['/introspect', '/v1/oauth2/introspect', '/oauth2/introspect']) {
  t.test(`POST ${path} introspects tokens`, async t => {
    const token = await getToken('/token')

    const { status, body } = await post(path, { token })
    const unknown = await post(path, { token: `${token}x` })

    t.equal(status, 200)
    t.match(JSON.parse(body), { active: true, client_id: 'demo', token_type: 'Bearer' })
    t.same(JSON.parse(unknown.body), { active: false })
  })
}

const authorization = new URLSearchParams({
  response_type: 'code',
  client_id: 'demo',
  redirect_uri: 'http://127.0.0.1:3000/callback',
  scope: 'accounts:read',
  state: 'abc',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
})

t.test('GET /psd2/oauth2/authorize redirects the user to the login pages', async t => {
  const { status, headers } = await ask(`/psd2/oauth2/authorize?${authorization}`)

  t.equal(status, 303)
  t.match(headers.get('location'), /\/interaction\/[\w-]+$/)
})

t.test('POST /psd2/oauth2/authorize does the same', async t => {
  const { status, headers } = await ask('/psd2/oauth2/authorize', { method: 'POST', body: authorization })

  t.equal(status, 303)
  t.match(headers.get('location'), /\/interaction\/[\w-]+$/)
})

t.test('HEAD of it is refused, and begins no sign-in', async t => {
  const { status, headers } = await ask(`/psd2/oauth2/authorize?${authorization}`, { method: 'HEAD' })

  t.equal(status, 405)
  t.equal(headers.get('allow'), 'GET, POST')
  t.equal(headers.get('set-cookie'), null)
})

const query = (fields: Readonly<Record<string, string>>): string => `?${new URLSearchParams(fields)}`
const right = query({ client_id: 'demo', client_secret: secret })

for (const path of ['/v1/metadata/oauth2', '/oauth2']) {
  t.test(`GET ${path} answers 200 with the metadata to the credentials in the query, or in Basic`, async t => {
    const byQuery = await ask(path + right, { headers: { accept: 'application/json' } })
    const byBasic = await ask(path, { headers: { authorization: basic } })

    t.equal(byQuery.status, 200)
    t.match(byQuery.headers.get('content-type'), /^application\/json/)
    const document = JSON.parse(byQuery.body)
    t.match(document, {
      issuer: sidegate.url,
      token_endpoint: `${sidegate.url}/token`,
      introspection_endpoint: `${sidegate.url}/introspect`,
      authorization_endpoint: `${sidegate.url}/psd2/oauth2/authorize`,
    })
    t.equal(byBasic.status, 200)
    t.same(JSON.parse(byBasic.body), document)
  })

  t.test(`GET ${path} says nothing of what was wrong: every 401 is the same, byte for byte`, async t => {
    const refusals = await Promise.all([
      ask(path),
      ask(path + query({ client_id: 'demo' })),
      ask(path + query({ client_secret: secret })),
      ask(path + query({ client_id: 'demo', client_secret: `${secret}x` })),
      ask(path + query({ client_id: 'demo', client_secret: '' })),
      ask(path + query({ client_id: 'nobody', client_secret: secret })),
    ])

    t.same(
      refusals.map(({ status }) => status),
      refusals.map(() => 401),
    )
    t.equal(new Set(refusals.map(({ body }) => body)).size, 1)
    t.match(JSON.parse(refusals[0]?.body ?? ''), { error: 'invalid_client' })
    t.ok(refusals.every(({ headers }) => headers.get('www-authenticate')?.startsWith('Basic ')))
  })

  t.test(`GET ${path} refuses a credential given twice`, async t => {
    const twice = await ask(`${path}${right}&client_secret=${secret}`)
    const twoWays = await ask(path + right, { headers: { authorization: basic } })

    for (const { status, body } of [twice, twoWays]) {
      t.equal(status, 400)
      t.match(JSON.parse(body), { error: 'invalid_request' })
    }
  })
}

t.test('the Default Plan of 100 per second stands on every answer', async t => {
  const { headers } = await post('/v1/oauth2/token', { grant_type: 'client_credentials' })

  t.equal(headers.get('ratelimit-policy'), '"default-plan";q=100;w=1')
  t.match(headers.get('ratelimit'), /^"default-plan";r=\d+;t=1$/)
})

t.test('a secret in the query of a forwarded operation is refused before it reaches the upstream', async t => {
  const token = await getToken('/token')
  const forwarded = await ask('/accounts/1', { headers: { authorization: `Bearer ${token}` } })
  const leaking = await ask(`/accounts/1${right}`, { headers: { authorization: `Bearer ${token}` } })
  const open = await ask(`/accounts/health${right}`)

  t.equal(forwarded.status, 200)
  t.equal(leaking.status, 400)
  t.equal(open.status, 400)
  t.equal(upstreamRequests.length, 1)
})

t.test('metrics count every row under its grouping, its version and its own name', async t => {
  const exposition = await scrape(sidegate.admin)

  for (const [grouping, operation] of rows) {
    t.ok(
      sumOf(exposition, 'sidegate_http_requests_total', { grouping, operation, version: '1.0.0' }) > 0,
      `${grouping} ${operation}`,
    )
  }
})

t.test('the secret stands in no line of the log, no metric, no answer and no upstream request', async t => {
  const metrics = await (await fetchFreshMetrics(sidegate.admin)).text()
  sidegate.kill('SIGINT')
  t.equal(await sidegate.exited, 0)

  const [, encoded = ''] = basic.split(' ')
  const everything = {
    log: sidegate.output.join('\n'),
    metrics,
    answers: bodies.join('\n'),
    upstream: JSON.stringify(upstreamRequests),
  }
  for (const [where, text] of Object.entries(everything)) {
    t.ok(text.length > 0, `there is something of the ${where} to look through`)
    t.notOk(text.includes(secret) || text.includes(encoded), where)
  }
})
