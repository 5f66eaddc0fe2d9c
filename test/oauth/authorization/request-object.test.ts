import t, { type Test } from 'tap'
import { createRequestObjects } from '../../../src/oauth/authorization/request-object.ts'
import { createClientKeyring } from '../../../src/oauth/client-keys/keyring.ts'
import type { ClientRegistration } from '../../../src/oauth/clients/metadata.ts'
import { challengeOf } from '../../../src/oauth/opaque-token.ts'
import { type Members, newKey, signJws, type TestKey, unsignedJws } from '../fapi/support/jws.ts'
import {
  answerOf,
  ask,
  type BrowserRoom,
  callback,
  demoClient,
  encode,
  enter,
  get,
  header,
  isPage,
  locationOf,
  openBrowserRoom,
  verifier,
} from '../support/browser-flow.ts'

/** Signed request objects (RFC 9101) at the authorization endpoint. */

const issuer = 'http://localhost:8080'
const keys = { ES256: newKey('ES256'), PS256: newKey('PS256'), EdDSA: newKey('EdDSA') }
const rs256 = newKey('RS256')

const signing = (changes: Partial<ClientRegistration> = {}): ClientRegistration => ({
  ...demoClient,
  keys: { kind: 'jwks', jwks: { keys: Object.values({ ...keys, rs256 }).map(({ publicJwk }) => ({ ...publicJwk })) } },
  ...changes,
})

const nowSec = (room: BrowserRoom): number => room.deps.clock.nowMs() / 1000

const claimsOf = (room: BrowserRoom): Members => ({
  iss: 'demo',
  aud: issuer,
  exp: nowSec(room) + 300,
  client_id: 'demo',
  response_type: 'code',
  redirect_uri: callback,
  scope: 'accounts:read',
  state: 'inside',
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
})

const signed = (room: BrowserRoom, changes: Members = {}, header: Members = {}, key: TestKey = keys.ES256): string =>
  signJws({ alg: key.alg, kid: key.kid, ...header }, { ...claimsOf(room), ...changes }, key)

/** Outside the object only the parameters that RFC 9101 section 5 requires there. */
const show = (room: BrowserRoom, request: string) => room.authorize(get(encode({ client_id: 'demo', request })))

const isBegun = (t: Test, location: string): void => void t.match(location, /^\/interaction\//)

t.test(
  'the parameters inside the object count, those outside are ignored (RFC 9101 section 6.3; checklist 65)',
  async t => {
    const room = await openBrowserRoom(t, [signing()])
    const request = signed(room)
    const guest = await enter(
      room,
      ask({ request, state: 'outside', scope: 'nope', redirect_uri: 'https://evil.example/' }),
    )

    await guest.signIn()
    const done = await guest.submit({ decision: 'allow' })

    t.equal(answerOf(done).state, 'inside')
    t.match(await room.redeem(answerOf(done).code ?? ''), { kind: 'redeemed', record: { scope: 'accounts:read' } })
  },
)

t.test('a parameter that is only outside the object does not count (RFC 9101 section 6.3; checklist 65)', async t => {
  const room = await openBrowserRoom(t, [signing()])

  const reply = await room.authorize(get(ask({ request: signed(room, { code_challenge: undefined }) })))

  t.match(answerOf(reply), { error: 'invalid_request', state: 'inside', iss: issuer })
})

t.test('each strong algorithm is accepted, with or without the type (RFC 9101 section 6.3; checklist 65)', async t => {
  const room = await openBrowserRoom(t, [signing()])

  for (const key of Object.values(keys)) {
    for (const typ of ['oauth-authz-req+jwt', 'JWT', undefined]) {
      isBegun(t, header(await show(room, signed(room, {}, { typ }, key)), 'location'))
    }
  }
})

const refused: Readonly<Record<string, (room: BrowserRoom) => string>> = {
  'it is not signed': room => unsignedJws({}, claimsOf(room)),
  'it is encrypted': () => 'eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d',
  'a text that is not a JWT': () => 'request',
  'its signature is of other claims': room =>
    [...signed(room).split('.').slice(0, 2), signed(room, { state: 'x' }).split('.')[2]].join('.'),
  'a foreign key signed it': room => signed(room, {}, {}, newKey('ES256')),
  'RS256 signed it, which is for clients that are registered with it': room => signed(room, {}, {}, rs256),
  'its type is another': room => signed(room, {}, { typ: 'at+jwt' }),
  'it has an unknown critical header': room => signed(room, {}, { crit: ['b64'], b64: true }),
  'its sub is the client: it could be an assertion': room => signed(room, { sub: 'demo' }),
  'its iss is another client': room => signed(room, { iss: 'other' }),
  'its iss is missing': room => signed(room, { iss: undefined }),
  'its client_id is another': room => signed(room, { client_id: 'other' }),
  'its client_id is missing': room => signed(room, { client_id: undefined }),
  'its aud is another server': room => signed(room, { aud: `${issuer}/` }),
  'its aud is missing': room => signed(room, { aud: undefined }),
  'its exp is missing': room => signed(room, { exp: undefined }),
  'its exp has passed': room => signed(room, { exp: nowSec(room) - 60 }),
  'its nbf is to come': room => signed(room, { nbf: nowSec(room) + 90 }),
  'it holds another request': room => signed(room, { request: signed(room) }),
  'it holds a request_uri': room => signed(room, { request_uri: 'urn:ietf:params:oauth:request_uri:x' }),
  'a parameter in it is not a string': room => signed(room, { state: 1 }),
  'a parameter in it is half a surrogate pair': room => signed(room, { state: '\ud800' }),
  'a resource in it is not a string': room => signed(room, { resource: [{}] }),
}

for (const [fault, make] of Object.entries(refused)) {
  t.test(
    `an invalid request object gets invalid_request_object: ${fault} (RFC 9101 section 6.3; checklist 65)`,
    async t => {
      const room = await openBrowserRoom(t, [signing()])

      const reply = await room.authorize(get(ask({ request: make(room) })))

      t.equal(locationOf(reply).origin + locationOf(reply).pathname, callback)
      t.match(answerOf(reply), { error: 'invalid_request_object', state: 'a-state', iss: issuer })
      t.notOk(reply.headers['set-cookie'])
    },
  )
}

t.test('many bad request objects from one address get Retry-After, and good ones from there too', async t => {
  const room = await openBrowserRoom(t, [signing()])
  const bad = signed(room, { state: 'x' }, {}, newKey('ES256'))

  for (let times = 0; times < 10; times++) t.equal(answerOf(await show(room, bad)).error, 'invalid_request_object')
  await t.rejects(async () => show(room, bad), { code: 'rate_limit_exceeded', headers: { 'retry-after': '60' } })
  await t.rejects(async () => show(room, signed(room)), { code: 'rate_limit_exceeded' })
  const elsewhere = { ...get(encode({ client_id: 'demo', request: signed(room) })), address: '198.51.100.1' }
  isBegun(t, header(await room.authorize(elsewhere), 'location'))
  room.advanceSec(60)
  isBegun(t, header(await show(room, signed(room)), 'location'))
})

t.test('a sub that is a user is accepted', async t => {
  const room = await openBrowserRoom(t, [signing()])

  isBegun(t, header(await show(room, signed(room, { sub: 'alice' })), 'location'))
})

t.test('aud may be a list with the issuer in it (RFC 9101 section 6.3; checklist 65)', async t => {
  const room = await openBrowserRoom(t, [signing()])

  isBegun(t, header(await show(room, signed(room, { aud: ['https://other.example', issuer] })), 'location'))
})

t.test('a refused object causes no redirect to a redirect_uri that only the object names', async t => {
  const two = signing({ redirect_uris: [callback, 'https://app.example/cb'] })
  const room = await openBrowserRoom(t, [two])

  t.ok(isPage(await show(room, signed(room, { aud: 'https://other.example' })), 400))
  t.ok(isPage(await show(room, signed(room, { redirect_uri: 'https://evil.example/' })), 400))
})

t.test('a client that is registered with one algorithm signs with no other', async t => {
  const room = await openBrowserRoom(t, [signing({ request_object_signing_alg: 'RS256' })])

  isBegun(t, header(await show(room, signed(room, {}, {}, rs256)), 'location'))
  t.equal(answerOf(await show(room, signed(room))).error, 'invalid_request_object')
})

t.test('under FAPI 2.0 an object has an exp, at most an hour ahead', async t => {
  const room = await openBrowserRoom(t)
  const client = signing({ profile: 'fapi2' })
  const read = createRequestObjects(room.deps, createClientKeyring(room.deps.clock, room.deps.reportFetchFailure))
  const [now, address] = [nowSec(room), '192.0.2.1']

  t.notOk('error' in (await read(signed(room, { nbf: now, exp: now + 3600 }), client, address)))
  const tooLong = [{ nbf: undefined }, { nbf: now - 3601 }, { nbf: now - 1, exp: now + 3600 }]
  for (const changes of tooLong)
    t.ok('error' in (await read(signed(room, changes), client, address)), JSON.stringify(changes))
})

t.test('the error_description of a refused request object names its fault', async t => {
  const client = signing({ profile: 'fapi2' })
  const room = await openBrowserRoom(t, [client])
  const read = createRequestObjects(
    room.deps,
    createClientKeyring(room.deps.clock, () => undefined),
  )
  const now = nowSec(room)
  const told: readonly (readonly [string, string])[] = [
    [signed(room, { nbf: now, exp: undefined }), 'The request object has no exp, or has expired.'],
    [signed(room, { nbf: now - 120, exp: now - 60 }), 'The request object has no exp, or has expired.'],
    [signed(room, { nbf: now, exp: now + 3700 }), 'The exp of the request object is more than 60 minutes from now.'],
    [signed(room, { nbf: now + 90 }), 'The nbf or iat of the request object is in the future.'],
    [
      signed(room, { nbf: now, aud: 'https://x.example' }),
      'The aud of the request object is not the issuer of this server.',
    ],
    [signed(room, { nbf: now, sub: 'demo' }), 'The sub of a request object cannot be the client_id.'],
    [
      signed(room, { nbf: now }, {}, newKey('ES256')),
      'The request object is not signed with a registered key and algorithm of this client.',
    ],
  ]
  for (const [nth, [request, description]] of told.entries()) {
    // Many bad objects from one address would be refused by the rate limit.
    const answer = await read(request, client, `203.0.113.${nth}`)
    t.equal('error' in answer && answer.error, 'invalid_request_object')
    t.equal('description' in answer && answer.description, description)
  }
})

t.test('a client that must sign cannot send plain parameters', async t => {
  const room = await openBrowserRoom(t, [signing({ require_signed_request_object: true })])

  t.match(answerOf(await room.authorize(get(ask()))), { error: 'invalid_request', state: 'a-state' })
  isBegun(t, header(await show(room, signed(room)), 'location'))
})

t.test('a client without keys cannot sign, and request beside request_uri is refused', async t => {
  const room = await openBrowserRoom(t)
  const request_uri = 'urn:ietf:params:oauth:request_uri:AAAAAAAAAAAAAAAAAAAAAA'

  t.equal(answerOf(await room.authorize(get(ask({ request: signed(room) })))).error, 'invalid_request_object')
  t.equal(answerOf(await room.authorize(get(ask({ request: signed(room), request_uri })))).error, 'invalid_request')
})

t.test('a request object may be sent again until its expiry, as by a reload of the page', async t => {
  const room = await openBrowserRoom(t, [signing()])
  const request = signed(room)

  isBegun(t, header(await show(room, request), 'location'))
  isBegun(t, header(await show(room, request), 'location'))
})
