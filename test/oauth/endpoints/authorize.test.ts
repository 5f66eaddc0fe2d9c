import t from 'tap'
import { createMetadata } from '../../../src/oauth/endpoints/metadata.ts'
import {
  answerOf,
  ask,
  callback,
  demoClient,
  encode,
  enter,
  get,
  header,
  isPage,
  openBrowserRoom,
  type Parameters,
  post,
} from '../support/browser-flow.ts'

t.test('a valid request starts an interaction in this browser', async t => {
  const room = await openBrowserRoom(t)

  const reply = await room.authorize(get(ask()))

  t.equal(reply.status, 303)
  const path = header(reply, 'location')
  t.match(path, /^\/interaction\/[\w-]{22}$/)
  t.match(
    reply.headers['set-cookie']?.[0],
    new RegExp(`^sidegate-interaction=[\\w-]{43}; Path=${path}; Max-Age=900; HttpOnly; SameSite=Lax$`),
  )
  t.equal(header(reply, 'cache-control'), 'no-store')
})

t.test(
  'with an https issuer the cookie is Secure and its name has the prefix __Secure- (RFC 6265 section 8.4; checklist 61)',
  async t => {
    const room = await openBrowserRoom(t, [demoClient], { issuer: 'https://login.example' })

    const reply = await room.authorize(get(ask()))

    const names = [/^__Secure-sidegate-interaction=/, /^__Secure-sidegate-return=/]
    for (const [i, name] of names.entries()) {
      t.match(reply.headers['set-cookie']?.[i], name)
      t.match(reply.headers['set-cookie']?.[i], /; HttpOnly; SameSite=Lax; Secure$/)
    }
  },
)

t.test('GET and POST give the same result (RFC 6749 section 3.1; checklist 39)', async t => {
  const room = await openBrowserRoom(t)

  t.match(header(await room.authorize(post(ask())), 'location'), /^\/interaction\//)
  for (const changes of [{ scope: 'nope' }, { response_type: 'token' }, { client_id: 'nobody' }]) {
    t.same(await room.authorize(post(ask(changes))), await room.authorize(get(ask(changes))))
  }
})

t.test(
  'of a POST only the body counts, and a parameter in both places is a duplicate (RFC 6749 section 3.1; checklist 39)',
  async t => {
    const room = await openBrowserRoom(t)

    const bodyOnly = await room.authorize({ ...post(ask({ scope: undefined })), query: 'prompt=none' })
    const inBoth = await room.authorize({ ...post(ask()), query: 'scope=accounts:read' })
    const clientInQuery = await room.authorize({ ...post(ask({ client_id: undefined })), query: 'client_id=demo' })
    const clientInBoth = await room.authorize({ ...post(ask()), query: 'client_id=demo' })

    t.match(header(bodyOnly, 'location'), /^\/interaction\//)
    t.equal(answerOf(inBoth).error, 'invalid_request')
    for (const refused of [clientInQuery, clientInBoth]) {
      t.equal(refused.status, 400)
      t.notOk(refused.headers.location)
    }
  },
)

t.test('a POST that is not form-encoded gets a page and no redirect', async t => {
  const room = await openBrowserRoom(t)

  for (const contentType of [undefined, 'application/json', 'multipart/form-data; boundary=x']) {
    const reply = await room.authorize({ ...post(ask()), contentType })
    t.equal(reply.status, 400)
    t.notOk(reply.headers.location)
  }
  const charset = 'Application/X-WWW-form-urlencoded; charset=utf-8'
  t.equal((await room.authorize({ ...post(ask()), contentType: charset })).status, 303)
})

t.test('more than a hundred parameters get a page and no redirect', async t => {
  const room = await openBrowserRoom(t)
  const more = (count: number): string =>
    `${ask()}&${Array.from({ length: count - new URLSearchParams(ask()).size }, (_, nth) => `p${nth}=1`).join('&')}`

  for (const send of [get, post]) {
    t.equal((await room.authorize(send(more(100)))).status, 303)
    const reply = await room.authorize(send(more(101)))
    t.equal(reply.status, 400)
    t.notOk(reply.headers.location)
    t.match(reply.body, /More than 100 parameters were sent\./)
  }
})

t.test(
  'an unknown client or a bad redirect URI gets a page and no Location (RFC 6749 section 4.1.2.1; checklist 40)',
  async t => {
    const room = await openBrowserRoom(t)
    const bad: Parameters[] = [
      { client_id: 'nobody' },
      { client_id: undefined },
      { client_id: 'DEMO' },
      { redirect_uri: 'https://evil.example/' },
      { redirect_uri: `${callback}/` },
    ]
    for (const changes of bad) {
      const reply = await room.authorize(get(ask(changes)))
      t.equal(reply.status, 400)
      t.notOk(reply.headers.location)
      t.match(header(reply, 'content-type'), /^text\/html/)
    }
    t.equal((await room.authorize(get(`${ask({ client_id: undefined })}&client_id=%ff`))).status, 400)
  },
)

t.test(
  'redirect_uri may be omitted if the client has exactly one (RFC 6749 section 3.1.2.3; checklist 44)',
  async t => {
    const two = { ...demoClient, client_id: 'two', redirect_uris: [callback, 'https://app.example/cb'] }
    const room = await openBrowserRoom(t, [demoClient, two])

    t.equal((await room.authorize(get(ask({ redirect_uri: undefined })))).status, 303)
    t.equal((await room.authorize(get(ask({ client_id: 'two', redirect_uri: undefined })))).status, 400)
  },
)

t.test(
  'state comes back unchanged, and a request without one gets none (RFC 6749 section 4.1.2; checklist 46)',
  async t => {
    const room = await openBrowserRoom(t)
    const states = ['x', 'a b+c%20', '%0d%0aSet-Cookie: x', `${'ü😀&#="<>\r\n\t\0'.repeat(100)}`, 'A'.repeat(2048)]
    for (const state of states) {
      const refused = await room.authorize(get(ask({ state, scope: 'nope' })))
      t.equal(answerOf(refused).state, state)

      const guest = await enter(room, ask({ state }))
      await guest.signIn()
      t.equal(answerOf(await guest.submit({ decision: 'allow' })).state, state)
    }
    const without = await room.authorize(get(ask({ state: undefined, scope: 'nope' })))
    t.notOk('state' in answerOf(without))
  },
)

t.test('a state is bounded by its encoded length in a redirect, and a longer one gets a page', async t => {
  const room = await openBrowserRoom(t)
  for (const [sign, most] of [
    ['&', 3072],
    ['é', 1536],
    ['漢', 1024],
    ['😀', 768],
  ] as const) {
    const longest = sign.repeat(most)
    const guest = await enter(room, ask({ state: longest }))
    await guest.signIn()
    const allowed = await guest.submit({ decision: 'allow' })
    const longer = await room.authorize(get(ask({ state: `${longest}${sign}` })))

    t.equal(answerOf(allowed).state, longest)
    t.ok(header(allowed, 'location').length < 9216 + 200)
    t.ok(isPage(longer, 400))
    t.match(longer.body, /state is longer than 9216 bytes, percent-encoded\./)
  }
})

t.test('a state that is not UTF-8 cannot come back unchanged and is refused', async t => {
  const room = await openBrowserRoom(t)

  const reply = await room.authorize(get(`${ask({ state: undefined })}&state=%ff`))

  t.equal(answerOf(reply).error, 'invalid_request')
  t.notOk('state' in answerOf(reply))
})

t.test(
  'iss is in every success and error redirect, with the same bytes as in configuration and metadata (RFC 9207 section 2; checklist 47)',
  async t => {
    const odd = 'https://Login.example:443/tenant/'
    const room = await openBrowserRoom(t, [demoClient], { issuer: odd })
    const guest = await enter(room)
    await guest.signIn()

    const refused = await room.authorize(get(ask({ scope: 'nope' })))
    const declined = await (await enter(room)).submit({ decision: 'deny' })
    const allowed = await guest.submit({ decision: 'allow' })

    for (const reply of [refused, declined, allowed]) t.equal(answerOf(reply).iss, odd)
    t.ok(answerOf(allowed).code)
    const metadata = createMetadata({ ...room.deps.options, endpoints: { authorize: `${odd}authorize` } }, [])
    t.match(metadata, { issuer: odd, authorization_response_iss_parameter_supported: true })
  },
)

t.test('neither order nor doubled spaces of a scope matter (RFC 6749 section 3.3; checklist 50)', async t => {
  const room = await openBrowserRoom(t)

  const reply = await room.authorize(get(ask({ scope: '  accounts:write  accounts:read ' })))

  t.match(header(reply, 'location'), /^\/interaction\//)
})

t.test(
  'a duplicate parameter is refused, by redirect only if the redirect URI is certain (RFC 6749 section 3.1; checklist 51)',
  async t => {
    const room = await openBrowserRoom(t)

    for (const twice of [{ client_id: 'demo' }, { redirect_uri: callback }]) {
      const reply = await room.authorize(get(`${ask()}&${encode(twice)}`))
      t.equal(reply.status, 400)
      t.notOk(reply.headers.location)
    }
    for (const twice of [{ scope: 'accounts:read' }, { unknown: '1', UNKNOWN: '2' }, { state: 'other' }]) {
      const reply = await room.authorize(get(`${ask({ unknown: '0' })}&${encode(twice)}`))
      t.equal(answerOf(reply).error, 'invalid_request')
      t.equal(answerOf(reply).state, 'state' in twice ? undefined : 'a-state')
    }
    t.equal(answerOf(await room.authorize(get(`${ask()}&sc%6Fpe=accounts:read`))).error, 'invalid_request')
  },
)

t.test('resource may be repeated, and the grant has all of them (RFC 8707 section 2; checklist 66)', async t => {
  const room = await openBrowserRoom(t)
  const resource = ['https://api.example/accounts', 'https://api.example']
  const guest = await enter(room, `${ask()}&${resource.map(uri => encode({ resource: uri })).join('&')}`)

  await guest.signIn()
  const outcome = await room.redeem(answerOf(await guest.submit({ decision: 'allow' })).code ?? '')

  t.match(outcome, { kind: 'redeemed', record: { resource } })
})

t.test('an unknown parameter is ignored, and an empty one counts as absent', async t => {
  const room = await openBrowserRoom(t)

  const reply = await room.authorize(get(ask({ unknown: '1', prompt: '', request: '', response_mode: '' })))

  t.match(header(reply, 'location'), /^\/interaction\//)
})
