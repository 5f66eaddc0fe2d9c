import { type Members, newKey, signJws, unsignedJws } from '../fapi/support/jws.ts'
import { type Fields, type Posted, post } from '../support/post.ts'
import { operations } from '../support/running.ts'
import { claimsOf } from './support/access-tokens.ts'
import { key, nowSec } from './support/assertions.ts'
import { answerOf, askToAuthorize, authorizationQuery, authorize, redeem } from './support/browser.ts'
import { confidentialClient } from './support/clients.ts'
import { onEachStore } from './support/each-store.ts'

const accounts = 'https://api.example/accounts'
const payments = 'https://api.example/payments'
const unknownUri = 'urn:ietf:params:oauth:request_uri:AAAAAAAAAAAAAAAAAAAAAA'

const setup = () => ({
  groupings: [{ name: 'OAuth', operations }, api('accounts', accounts), api('payments', payments)],
  upstreams: { api: { targets: ['http://127.0.0.1:9'] } },
  clients: [
    confidentialClient('app'),
    confidentialClient('signer', { jwks: { keys: [key.publicJwk] }, require_signed_request_object: true }),
  ],
})

const api = (name: string, resource: string): object => ({
  name,
  basePath: `/${name}`,
  upstream: 'api',
  resource,
  operations: [{ method: 'GET', path: '/**', scopes: ['read'] }],
})

const invalidRequest = { status: 400, body: { error: 'invalid_request' } }
const invalidTarget = { status: 400, body: { error: 'invalid_target' } }
/** A good authorization request without a client. */
const { client_id: _, ...request } = Object.fromEntries(new URLSearchParams(authorizationQuery({ scope: 'read' })))

onEachStore('F. Request objects and resource indicators', setup, async (t, { url }) => {
  const push = (fields: Fields = request, as = 'app'): Promise<Posted> => post(`${url}/par`, fields, as)
  const pushed = async (fields?: Fields, as?: string): Promise<string> =>
    String((await push(fields, as)).body.request_uri)
  const visit = (fields: Fields): Promise<Posted> => askToAuthorize(url, new URLSearchParams(fields).toString())
  const isDeadEnd = ({ status, headers }: Posted): boolean => status === 400 && headers.get('location') === null
  const goesOn = ({ status, headers }: Posted): boolean =>
    status === 303 && headers.get('location')?.startsWith('/interaction/') === true

  const claims = { iss: 'signer', aud: url, exp: nowSec() + 600, client_id: 'signer', ...request, state: 'inside' }
  const header = { alg: key.alg, kid: key.kid, typ: 'oauth-authz-req+jwt' }
  const signed = (changes: Members = {}): string => signJws(header, { ...claims, ...changes }, key)

  await t.test(
    'of a signed request only the parameters inside the object count, pushed or not (RFC 9101 section 6.3; checklist 65)',
    async t => {
      const outside = { state: 'outside', scope: 'write', resource: accounts }
      const request_uri = await pushed({ ...outside, request: signed() }, 'signer')

      for (const sent of [
        { request_uri },
        { request_uri: await pushed({ request: signed() }, 'signer'), ...outside },
        { ...outside, request: signed() },
      ]) {
        const query = new URLSearchParams({ client_id: 'signer', ...sent }).toString()
        const { code = '', state } = await authorize(url, query)
        t.equal(state, 'inside')
        const { body } = await redeem(url, code, {}, 'signer')
        t.equal(body.scope, 'read')
        t.equal(claimsOf(body.access_token).aud, url)
      }
    },
  )

  await t.test(
    'a request object must be signed by its client for this issuer, and not expired (RFC 9101 section 6.3; checklist 65)',
    async t => {
      const objects: Readonly<Record<string, string>> = {
        'it is not signed': unsignedJws({ typ: header.typ }, claims),
        'signed with a key of another client': signJws(header, claims, newKey('ES256', key.kid)),
        'its client_id is another': signed({ client_id: 'app' }),
        'its client_id is missing': signed({ client_id: undefined }),
        'its iss is another': signed({ iss: 'app' }),
        'its aud is an endpoint': signed({ aud: `${url}/authorize` }),
        'its aud has one character more': signed({ aud: `${url}/` }),
        'its aud is missing': signed({ aud: undefined }),
        'its exp is missing': signed({ exp: undefined }),
        'its exp has passed': signed({ exp: nowSec() - 60 }),
        'it holds a request_uri': signed({ request_uri: unknownUri }),
        'it holds another': signed({ request: signed() }),
      }
      for (const [fault, object] of Object.entries(objects)) {
        const refused = { status: 400, body: { error: 'invalid_request_object' } }
        t.match(await push({ request: object }, 'signer'), refused, fault)
        const answer = answerOf(await visit({ ...request, client_id: 'signer', request: object }))
        t.match(answer, { error: 'invalid_request_object', iss: url }, fault)
      }
      t.match(await push(request, 'signer'), invalidRequest, 'no object at all')
      t.match(await push({ request: signed() }, 'signer'), { status: 201 })
      t.ok(goesOn(await visit({ client_id: 'signer', request: signed() })))
    },
  )

  await t.test('the client_id outside must equal the one inside (RFC 9101 section 6.3; checklist 65)', async t => {
    t.ok(isDeadEnd(await visit({ request: signed() })), 'no client_id outside')
    t.match(answerOf(await visit({ ...request, client_id: 'app', request: signed() })), {
      error: 'invalid_request_object',
    })
    t.match(await push({ client_id: 'app', request: signed() }, 'signer'), invalidRequest)
  })

  await t.test(
    'an unknown resource is an invalid_target at every endpoint (RFC 8707 section 2; checklist 66)',
    async t => {
      for (const resource of [
        `${accounts}/`,
        accounts.toUpperCase(),
        `${accounts}#`,
        'https://nowhere.example',
        'accounts',
      ]) {
        t.match(await push({ ...request, resource }), invalidTarget, resource)
        t.match(
          answerOf(await visit({ ...request, client_id: 'app', resource })),
          { error: 'invalid_target' },
          resource,
        )
        t.match(await redeem(url, 'unknown', { resource }), invalidTarget, resource)
      }
      t.match(await push({ ...request, resource: accounts }), { status: 201 })
    },
  )

  await t.test(
    'a token is for the requested part of the granted resources only (RFC 8707 section 2; checklist 66)',
    async t => {
      const both = `${authorizationQuery()}&${new URLSearchParams({ resource: accounts })}&${new URLSearchParams({ resource: payments })}`
      const { code = '' } = await authorize(url, both)
      const { body } = await redeem(url, code, { resource: payments })
      t.equal(claimsOf(body.access_token).aud, payments)
      const refresh = (fields: Fields) =>
        post(
          `${url}/token`,
          { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), ...fields },
          'app',
        )

      const again = await refresh({ resource: accounts })
      t.equal(claimsOf(again.body.access_token).aud, accounts)
      t.same(claimsOf((await refresh({})).body.access_token).aud, [accounts, payments])
      t.match(await refresh({ resource: url }), invalidTarget)
      const { text } = await post(`${url}/introspect`, { token: String(again.body.access_token) }, 'app')
      t.match(JSON.parse(text), { active: true, aud: accounts })
    },
  )

  await t.test('a grant for one resource is not valid for another (RFC 8707 section 2; checklist 66)', async t => {
    const { code = '' } = await authorize(url, authorizationQuery({ resource: accounts }))

    t.match(await redeem(url, code, { resource: payments }), invalidTarget)
  })
})
