import { eventually } from '../../support/eventually.ts'
import { basic } from '../support/authorization-server.ts'
import { assertionFields } from '../support/client-keys.ts'
import { type Fields, type Posted, post, send } from '../support/post.ts'
import { oneCharacterOff } from './support/access-tokens.ts'
import { assert, key } from './support/assertions.ts'
import { answerOf, askToAuthorize, authorizationQuery, callback, enter, redeem } from './support/browser.ts'
import { confidentialClient, publicClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'

const unknownUri = 'urn:ietf:params:oauth:request_uri:AAAAAAAAAAAAAAAAAAAAAA'

const plan = 'default-plan'

const setup = () => ({
  workers: 4,
  plans: { [plan]: { rate: '100000/1second' }, three: { rate: '3/1hour' } },
  clients: [
    confidentialClient('app', { plan }),
    confidentialClient('other', { plan }),
    confidentialClient('busy', { plan: 'three' }),
    confidentialClient('posting', { plan, token_endpoint_auth_method: 'client_secret_post' }),
    publicClient('jwt', { plan, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.publicJwk] } }),
    publicClient('spa', { plan }),
    confidentialClient('pusher', { plan, require_pushed_authorization_requests: true }),
  ],
})

const invalidRequest = { status: 400, body: { error: 'invalid_request' } }
/** A good authorization request without a client. */
const { client_id: _, ...request } = Object.fromEntries(new URLSearchParams(authorizationQuery({ scope: 'read' })))

onEachStore('F. Pushed authorization requests', setup, async (t, { url, beside }) => {
  const push = (fields: Fields = request, as = 'app'): Promise<Posted> => post(`${url}/par`, fields, as)
  const pushed = async (fields?: Fields, as?: string): Promise<string> =>
    String((await push(fields, as)).body.request_uri)
  const visit = (fields: Fields): Promise<Posted> => askToAuthorize(url, new URLSearchParams(fields).toString())
  const isDeadEnd = ({ status, headers }: Posted): boolean => status === 400 && headers.get('location') === null
  const goesOn = ({ status, headers }: Posted): boolean =>
    status === 303 && headers.get('location')?.startsWith('/interaction/') === true

  await t.test(
    'a pushed request gets 201 with a new request_uri and a numeric lifetime (RFC 9126 section 2.1; checklist 62)',
    async t => {
      const answers = [await push(), await push()]

      for (const { status, headers, body } of answers) {
        t.equal(status, 201)
        t.match(body, { request_uri: /^urn:ietf:params:oauth:request_uri:[\w-]{22}$/, expires_in: 60 })
        t.match(headers.get('content-type'), /^application\/json(;|$)/)
        t.equal(headers.get('cache-control'), 'no-store')
      }
      t.not(answers[0]?.body.request_uri, answers[1]?.body.request_uri)
    },
  )

  await t.test('clients authenticate as at the token endpoint (RFC 9126 section 2.1; checklist 62)', async t => {
    const ways: Readonly<Record<string, readonly [isRight: boolean, prove: () => readonly [Fields, Fields]]>> = {
      'a secret by Basic': [true, () => [{}, { authorization: basic('app', 'app-secret') }]],
      'a secret in the body': [true, () => [{ client_id: 'posting', client_secret: 'posting-secret' }, {}]],
      'an assertion': [true, () => [assertionFields(assert(url)), {}]],
      'a public client': [true, () => [{ client_id: 'spa' }, {}]],
      'a wrong secret by Basic': [false, () => [{}, { authorization: basic('app', 'app-secreT') }]],
      'a wrong secret in the body': [false, () => [{ client_id: 'posting', client_secret: 'posting-secreT' }, {}]],
      'an assertion for this endpoint': [false, () => [assertionFields(assert(url, { aud: `${url}/par` })), {}]],
      'a secret by another method': [false, () => [{}, { authorization: basic('posting', 'posting-secret') }]],
      'a name alone': [false, () => [{ client_id: 'app' }, {}]],
      nothing: [false, () => [{}, {}]],
    }
    for (const [way, [isRight, prove]] of Object.entries(ways)) {
      const ask = (path: string, fields: Fields): Promise<Posted> => {
        const [proof, headers] = prove()
        return post(url + path, { ...fields, ...proof }, undefined, headers)
      }
      const atPar = await ask('/par', request)
      const atToken = await ask('/token', { grant_type: 'authorization_code', code: 'unknown' })

      t.match(atPar, isRight ? { status: 201 } : { status: 401, body: { error: 'invalid_client' } }, way)
      t.equal(atToken.body.error, isRight ? 'invalid_grant' : 'invalid_client', way)
      if (!isRight) t.equal(atPar.text, atToken.text, way)
    }
    t.match(await push({ ...request, client_id: 'other' }), invalidRequest)
  })

  await t.test(
    'a pushed request_uri is refused, and GET and PUT get 405 (RFC 9126 section 2.1; checklist 62)',
    async t => {
      for (const request_uri of [await pushed(), unknownUri, 'https://app.example/request']) {
        t.match(await push({ ...request, request_uri }), invalidRequest)
      }
      for (const method of ['GET', 'PUT']) {
        const { status, headers, body } = await send(`${url}/par`, { method, as: 'app' })
        t.equal(status, 405, method)
        t.equal(headers.get('allow'), 'POST')
        t.equal(body.request_uri, undefined)
      }
    },
  )

  await t.test('too large a request gets 413, too many get 429 (RFC 9126 section 2.1; checklist 62)', async t => {
    t.match(await push({ ...request, unknown: 'x'.repeat(65_536) }), {
      status: 413,
      body: { error: 'invalid_request' },
    })
    t.match(await push({ ...request, unknown: 'x'.repeat(60_000) }), { status: 201 })

    for (let times = 0; times < 3; times++) t.match(await push(request, 'busy'), { status: 201 })
    const refused = await push(request, 'busy')
    t.match(refused, { status: 429, body: { error: 'rate_limit_exceeded' } })
    t.ok(Number(refused.headers.get('retry-after')) >= 1)
  })

  await t.test(
    'a request_uri is valid only for its client, and only if it was issued (RFC 9126 section 4; checklist 63)',
    async t => {
      const request_uri = await pushed()
      const wrong = [request_uri.slice(0, -1), `${request_uri}A`, oneCharacterOff(request_uri), unknownUri]

      for (const client_id of ['other', 'spa', 'pusher']) t.ok(isDeadEnd(await visit({ client_id, request_uri })))
      for (const uri of wrong) t.ok(isDeadEnd(await visit({ ...request, client_id: 'app', request_uri: uri })), uri)
      t.ok(isDeadEnd(await visit({ request_uri })))
      t.ok(goesOn(await visit({ client_id: 'app', request_uri })))
    },
  )

  await t.test(
    'a request_uri is refused after its expiry, by every worker (RFC 9126 section 4; checklist 63)',
    async t => {
      const shortly = await beside({ tokens: { par: { lifetime: '1s' } } })
      const { body } = await post(`${shortly.url}/par`, request, 'app')
      t.equal(body.expires_in, 1)
      const fields = { client_id: 'app', request_uri: String(body.request_uri) }

      await eventually(async () => isDeadEnd(await visit(fields)))
      t.ok((await Promise.all(Array.from({ length: 8 }, () => visit(fields)))).every(isDeadEnd))
    },
  )

  await t.test(
    'a request_uri is accepted again until the user has finished, and never after (RFC 9126 section 4; checklist 63)',
    async t => {
      const fields = { client_id: 'app', request_uri: await pushed({ ...request, state: 'a-state' }) }
      const query = new URLSearchParams(fields).toString()
      t.ok((await Promise.all(Array.from({ length: 8 }, () => visit(fields)))).every(goesOn))
      const window = await enter(url, query)
      await window.signIn()
      t.ok(goesOn(await visit(fields)), 'the user has signed in, but not finished')
      t.equal((await window.show()).status, 200)

      const { code = '', state } = answerOf(await window.submit({ decision: 'allow' }))

      t.equal(state, 'a-state')
      t.ok((await Promise.all(Array.from({ length: 8 }, () => visit(fields)))).every(isDeadEnd))
      t.match(await redeem(url, code), { status: 200 })
    },
  )

  await t.test('a user that declines has finished too (RFC 9126 section 4; checklist 63)', async t => {
    const fields = { client_id: 'app', request_uri: await pushed() }
    const window = await enter(url, new URLSearchParams(fields).toString())

    t.match(answerOf(await window.submit({ decision: 'deny' })), { error: 'access_denied' })

    t.ok(isDeadEnd(await visit(fields)))
  })

  await t.test(
    'of four windows that finish at once over the workers only one gets a code (RFC 9126 section 4; checklist 63)',
    async t => {
      const query = new URLSearchParams({ client_id: 'app', request_uri: await pushed() }).toString()
      const windows = await Promise.all(Array.from({ length: 4 }, () => enter(url, query)))
      for (const window of windows) await window.signIn()

      const ends = await Promise.all(windows.map(window => window.submit({ decision: 'allow' })))

      const [code = '', ...others] = ends.flatMap(end => answerOf(end).code ?? [])
      t.same(others, [])
      t.match(await redeem(url, code), { status: 200 })
    },
  )

  await t.test(
    'a client that must push its requests is refused when it sends one directly (RFC 9126 section 5; checklist 64)',
    async t => {
      const direct = await visit({ ...request, client_id: 'pusher', state: 'a-state' })
      t.match(answerOf(direct), { error: 'invalid_request', state: 'a-state', iss: url })
      t.ok(direct.headers.get('location')?.startsWith(`${callback}?`))
      t.equal(direct.headers.get('set-cookie'), null)

      for (const redirect_uri of ['https://evil.example/', `${callback}/`, `${callback}?`, `${callback}#`]) {
        t.ok(isDeadEnd(await visit({ ...request, client_id: 'pusher', redirect_uri })), redirect_uri)
      }
      t.ok(goesOn(await visit({ client_id: 'pusher', request_uri: await pushed(request, 'pusher') })))
      t.ok(goesOn(await visit({ ...request, client_id: 'app' })))
    },
  )
})
