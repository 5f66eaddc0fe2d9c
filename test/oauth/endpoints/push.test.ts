import { calculateJwkThumbprint } from 'jose'
import t from 'tap'
import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import type { OAuthReply } from '../../../src/oauth/protocol.ts'
import { bareJwk, newKey } from '../fapi/support/jws.ts'
import {
  type Answer,
  answer,
  client,
  emptyRequest,
  formRequest,
  issuer,
  type Sent,
  startServer,
  type TestServer,
  verifier,
} from '../support/authorization-server.ts'
import { newProof } from '../support/proofs.ts'

const redirect_uri = 'https://app.example/callback'

const request = {
  response_type: 'code',
  client_id: 'app',
  redirect_uri,
  state: 'a-state',
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
}

const push = (
  { server }: TestServer,
  changes: Readonly<Record<string, string>> = {},
  { as = 'app', request: more = {} }: Sent = {},
): Promise<Answer> =>
  answer(async () => {
    const proof = changes.client_id === 'spa' ? {} : { as }
    const sent = formRequest({ ...request, ...changes }, { ...proof, request: { path: '/par', ...more } })
    const form = server.parseForm(sent)
    return server.par(form, await server.authenticate(form, sent), sent)
  })

const visit = async ({ server }: TestServer, fields: Readonly<Record<string, string>>): Promise<OAuthReply> => {
  const query = new URLSearchParams(fields).toString()
  const request = { ...emptyRequest, method: 'GET', path: '/authorize', query, contentType: undefined }
  return server.authorize(request, server.parseParameters(request))
}

const key = newKey('ES256')
const jkt = await calculateJwkThumbprint(bareJwk(key))

const begun = /^\/interaction\/([\w-]{22})$/

t.test(
  'a request_uri is valid for its lifetime, and invalid at its end (RFC 9126 section 4; checklist 63)',
  async t => {
    const server = await startServer(t)
    const { body } = await push(server)
    const fields = { client_id: 'app', request_uri: String(body.request_uri) }

    server.clock.advanceSec(59)
    t.match((await visit(server, fields)).headers.location, begun)

    server.clock.advanceSec(1)
    const late = await visit(server, fields)
    t.match(late, { status: 400, facts: { error: 'invalid_request_uri' } })
    t.notOk(late.headers.location)
  },
)

t.test('only the known parameters of a pushed request are stored', async t => {
  const server = await startServer(t, {
    clients: [client('app', { token_endpoint_auth_method: 'client_secret_post' })],
  })
  const secret = { client_secret: 'app-secret', unknown: 'x', scope: 'read' }
  const { body } = await push(server, secret, { request: { authorization: [] } })

  const stored = await server.deps.store.pushed.find(String(body.request_uri).slice(-22))

  const { client_id, ...parameters } = request
  t.same(stored, { client_id, parameters: { ...parameters, scope: 'read' } })
})

t.test('the code is bound to the key of the pushed proof, and to the pushed request', async t => {
  const server = await startServer(t, { dpop: { nonce: 'optional' } })
  const proof = newProof(key, { uri: `${issuer}/par`, nowMs: server.clock.nowMs() })

  const { body } = await push(server, {}, { request: { dpop: [proof] } })

  const request_uri = String(body.request_uri)
  const page = String((await visit(server, { client_id: 'app', request_uri })).headers.location)
  const found = await server.deps.store.interactions.find(begun.exec(page)?.[1] ?? '')
  t.match(found?.record, { dpop_jkt: jkt, pushedId: request_uri.slice(-22), client_id: 'app' })
})

t.test('a wrong proof, or another key than dpop_jkt, is refused', async t => {
  const server = await startServer(t, { dpop: { nonce: 'optional' } })
  const pushProven = (uri: string, dpop_jkt = jkt): Promise<Answer> =>
    push(server, { dpop_jkt }, { request: { dpop: [newProof(key, { uri, nowMs: server.clock.nowMs() })] } })

  t.match(await pushProven(`${issuer}/token`), { status: 400, body: { error: 'invalid_dpop_proof' } })
  t.match(await pushProven(`${issuer}/par`, 'A'.repeat(43)), { status: 400, body: { error: 'invalid_request' } })
  t.match(await pushProven(`${issuer}/par`), { status: 201 })
})

t.test('redirect_uri may be omitted if the client has exactly one, but not under FAPI 2.0', async t => {
  const fapi = client('fapi', { profile: 'fapi2', redirect_uris: [redirect_uri] })
  const server = await startServer(t, { clients: [client('app'), fapi] })

  t.match(await push(server, { redirect_uri: '' }), { status: 201 })
  const asFapi = { as: 'fapi' }
  t.match(await push(server, { client_id: 'fapi', redirect_uri: '' }, asFapi), {
    status: 400,
    body: { error: 'invalid_request' },
  })
  t.match(await push(server, { client_id: 'fapi' }, asFapi), { status: 201 })
})

t.test(
  'under FAPI 2.0 a client must push, by its own profile or by that of the server (RFC 9126 section 5; checklist 64)',
  async t => {
    const own = await startServer(t, { clients: [client('app', { profile: 'fapi2' })] })
    const all = await startServer(t, { profile: 'fapi2' })

    for (const server of [own, all]) {
      const { headers } = await visit(server, request)
      t.ok(String(headers.location).startsWith(`${redirect_uri}?error=invalid_request&`))
    }
    t.match((await visit(await startServer(t), request)).headers.location, begun)
  },
)

t.test('the stored pushed request has the values that were checked', async t => {
  const server = await startServer(t)
  const sent = { scope: 'read  read write read', prompt: 'login consent', response_mode: 'query', nonce: 'n', odd: 'x' }

  const { body } = await push(server, sent)

  const id = String(body.request_uri).slice('urn:ietf:params:oauth:request_uri:'.length)
  const { client_id: _, ...kept } = request
  t.same((await server.deps.store.pushed.find(id))?.parameters, { ...kept, scope: 'read write' })
})

t.test('the pushed requests of public clients are limited by address', async t => {
  const spa = { ...client('spa'), token_endpoint_auth_method: 'none' as const, secrets: [] }
  const server = await startServer(t, { clients: [spa, client('app')] })
  const asSpa = (address: string) => {
    const changes = { client_id: 'spa', redirect_uri: 'https://spa.example/callback' }
    return push(server, changes, { request: { address } })
  }
  for (let times = 0; times < 300; times++) await asSpa('192.0.2.1')

  const refused = await asSpa('192.0.2.1')

  t.match(refused, { status: 429, headers: { 'retry-after': '60' }, body: { error: 'rate_limit_exceeded' } })
  t.equal((await asSpa('192.0.2.2')).status, 201)
  t.equal(
    (await push(server, {}, { request: { address: '192.0.2.1' } })).status,
    201,
    'a confidential client is limited by its plan',
  )
})
