import t from 'tap'
import { verifySecretHash } from '../../../src/oauth/secrets/secret-hash.ts'
import type { OAuthReply } from '../../../src/oauth/wire.ts'
import { Secret } from '../../../src/secret.ts'
import {
  answerOf,
  ask,
  callback,
  demoClient,
  encode,
  enter,
  get,
  header,
  locationOf,
  openBrowserRoom,
  password,
  post,
} from '../support/browser-flow.ts'

const issuer = 'http://localhost:8080'

/** Whether a reply is one of our pages and sends the browser nowhere. */
const isPage = (reply: OAuthReply, status: number): boolean =>
  reply.status === status && !reply.headers.location && /^text\/html/.test(header(reply, 'content-type'))

t.test('who signs in and allows goes back with a code that can be redeemed', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  const signedIn = await guest.signIn()
  const consent = await guest.show()
  const allowed = await guest.submit({ decision: 'allow' })

  t.equal(signedIn.status, 303)
  t.equal(header(signedIn, 'location'), guest.path)
  t.match(consent.body, /Demo client/)
  t.match(consent.body, /alice/)
  t.match(consent.body, /accounts:read/)
  t.notMatch(consent.body, /accounts:write/)
  t.equal(allowed.status, 303)
  t.equal(header(allowed, 'cache-control'), 'no-store')
  t.equal(locationOf(allowed).origin + locationOf(allowed).pathname, callback)
  t.match(answerOf(allowed), { state: 'a-state', iss: issuer })
  const outcome = await room.redeem(answerOf(allowed).code ?? '')
  t.match(outcome, { kind: 'redeemed', record: { client_id: 'demo', username: 'alice', scope: 'accounts:read' } })
})

t.test('sub is the one of the configuration, or opaque and the same each time', async t => {
  const room = await openBrowserRoom(t)
  const subOf = async (username: string): Promise<string> => {
    const guest = await enter(room)
    await guest.signIn(username)
    const outcome = await room.redeem(answerOf(await guest.submit({ decision: 'allow' })).code ?? '')
    return outcome.kind === 'redeemed' ? outcome.record.sub : ''
  }

  t.equal(await subOf('bob'), 'employee-7')
  const derived = await subOf('alice')
  t.match(derived, /^[\w-]{43}$/)
  t.equal(await subOf('alice'), derived)
})

t.test('line 30: a code is bound to the redirect URI that was sent, or to none having been sent', async t => {
  const room = await openBrowserRoom(t)
  const codeFor = async (query: string): Promise<string> => {
    const guest = await enter(room, query)
    await guest.signIn()
    return answerOf(await guest.submit({ decision: 'allow' })).code ?? ''
  }

  t.match(await room.redeem(await codeFor(ask({ redirect_uri: undefined })), ''), { kind: 'redeemed' })
  t.match(await room.redeem(await codeFor(ask()), `${callback}/`), { kind: 'refused' })
})

t.test('scope left out means all that the client is registered for', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room, ask({ scope: undefined }))

  await guest.signIn()
  const outcome = await room.redeem(answerOf(await guest.submit({ decision: 'allow' })).code ?? '')

  t.match(outcome, { record: { scope: 'accounts:read accounts:write offline_access' } })
})

t.test('line 31: the store never holds a code, not even to send the browser there again', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  await guest.signIn()

  const code = answerOf(await guest.submit({ decision: 'allow' })).code ?? ''

  const found = await room.deps.store.interactions.find(guest.path.replace('/interaction/', ''))
  t.equal(found?.record.stage, 'done')
  const [grantId = '', secret = ''] = code.split('.')
  t.ok(grantId && secret)
  t.notMatch(JSON.stringify(found), secret)
})

t.test('line 52: who declines on either page goes back with access_denied, and nothing is redeemable', async t => {
  const room = await openBrowserRoom(t)
  const created: string[] = []
  const { grants } = room.deps.store
  const create = grants.create
  grants.create = async grant => {
    created.push(grant.grantId)
    return create(grant)
  }
  const before = await enter(room)
  const after = await enter(room)
  await after.signIn()

  for (const reply of [await before.submit({ decision: 'deny' }), await after.submit({ decision: 'deny' })]) {
    t.equal(reply.status, 303)
    t.match(answerOf(reply), { error: 'access_denied', state: 'a-state', iss: issuer })
    t.notOk(answerOf(reply).code)
  }
  t.same(created, [])
})

t.test('a wrong password gets 400 and the page again five times, then access_denied', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  for (let tries = 1; tries <= 5; tries++) {
    const reply = await guest.submit({ username: 'alice', password: `${password}!` })
    t.ok(isPage(reply, 400), `try ${tries}`)
    t.match(reply.body, /role="alert"/)
    t.match(reply.body, /id="sign-in"/)
    t.match(reply.body, /value="alice"/)
    t.notMatch(reply.body, password)
  }
  const last = await guest.submit({ username: 'alice', password: 'wrong' })

  t.equal(last.status, 303)
  t.match(answerOf(last), { error: 'access_denied', state: 'a-state', iss: issuer })
  t.equal(header(await guest.signIn(), 'location'), header(last, 'location'), 'the right one comes too late')
})

t.test('a wrong password does not keep the right one out', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  for (let tries = 1; tries <= 5; tries++) await guest.submit({ username: 'alice', password: 'wrong' })
  await guest.signIn()

  t.match((await guest.show()).body, /id="allow"/)
})

t.test('guesses sent all at once are no more than guesses sent one by one', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const verified: string[] = []
  const { failures } = room.deps
  const count = failures.count
  failures.count = async (name, address) => {
    verified.push(name)
    return count(name, address)
  }

  const replies = await Promise.all(
    Array.from({ length: 9 }, (_, i) => guest.submit({ username: 'alice', password: `guess ${i}` })),
  )

  t.equal(verified.length, 6)
  t.equal(replies.filter(reply => reply.status === 400).length, 5)
  t.match((await guest.show()).body, /finished/)
})

t.test('an unknown user looks like a wrong password', async t => {
  const room = await openBrowserRoom(t)
  const [one, other] = [await enter(room), await enter(room)]
  const strip = (reply: OAuthReply, hide: readonly string[]): string =>
    hide.reduce((text, part) => text.replaceAll(part, ''), String(reply.body))

  const wrong = await one.submit({ username: 'alice', password: 'wrong' })
  const unknown = await other.submit({ username: 'alicf', password: 'wrong' })

  t.equal(unknown.status, wrong.status)
  t.same(unknown.headers, wrong.headers)
  t.equal(strip(unknown, [other.csrf, other.path, 'alicf']), strip(wrong, [one.csrf, one.path, 'alice']))
})

t.test('a missing, empty or doubled username or password is not a sign-in', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  t.ok(isPage(await guest.submit({}), 400))
  t.ok(isPage(await guest.submit({ username: 'alice', password: '' }), 400))
  const twice = `${encode({ csrf: guest.csrf, username: 'alice', password })}&username=alice`
  t.ok(isPage(await room.interaction(post(twice, guest.path, guest.cookie)), 400))
  t.ok(isPage(await guest.submit({ decision: 'allow' }), 400), 'nobody consents before anybody signed in')
})

t.test('more than ten wrong passwords for one user and address wait, over all interactions', async t => {
  const room = await openBrowserRoom(t)
  for (let i = 0; i < 2; i++) {
    const guest = await enter(room)
    for (let tries = 0; tries < 5; tries++) await guest.submit({ username: 'alice', password: 'wrong' })
  }
  const guest = await enter(room)

  const eleventh = await guest.submit({ username: 'alice', password: 'wrong' })
  const right = await guest.signIn()
  const otherUser = await (await enter(room)).signIn('bob')

  for (const reply of [eleventh, right]) {
    t.ok(isPage(reply, 429))
    t.equal(header(reply, 'retry-after'), '60')
  }
  t.equal(otherUser.status, 303)
  room.advanceSec(60)
  t.equal((await guest.signIn()).status, 303)
})

t.test('when too many passwords are being checked the browser gets a page that says so', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const cheap = new Secret(`scrypt$ln=1,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`)

  const flood = Array.from({ length: 202 }, (_, i) => verifySecretHash(new Secret(`flood ${i}`), cheap))
  const reply = await guest.submit({ username: 'nobody', password: 'wrong' })
  await Promise.all(flood)

  t.ok(isPage(reply, 503))
  t.equal(header(reply, 'retry-after'), '1')
  t.equal((await guest.signIn()).status, 303)
})

t.test('line 56: a form without, with a foreign, or with a changed csrf is refused and changes nothing', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const stranger = await enter(room)
  const wrong = [undefined, '', stranger.csrf, `${guest.csrf}x`, guest.csrf.toLowerCase()]

  for (const csrf of wrong) {
    t.ok(isPage(await guest.submit({ csrf, username: 'alice', password }), 403))
    t.ok(isPage(await guest.submit({ csrf, decision: 'deny' }), 403))
  }
  t.match((await guest.show()).body, /id="sign-in"/)
  await guest.signIn()
  for (const csrf of wrong) t.ok(isPage(await guest.submit({ csrf, decision: 'allow' }), 403))
  t.match((await guest.show()).body, /id="allow"/)
})

t.test('line 56: the csrf of one interaction is worth nothing in another, also of the same browser', async t => {
  const room = await openBrowserRoom(t)
  const [used, open] = [await enter(room), await enter(room)]
  await used.signIn()
  t.equal((await used.submit({ decision: 'allow' })).status, 303)
  const bothCookies = `${used.cookie}; ${open.cookie}`

  const form = encode({ csrf: used.csrf, username: 'alice', password })
  t.ok(isPage(await room.interaction(post(form, open.path, bothCookies)), 403))

  t.match((await open.show()).body, /id="sign-in"/)
  t.equal((await open.signIn()).status, 303)
})

t.test('line 56: no other browser gets in, though it knows address and csrf', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const stranger = await enter(room)
  const form = encode({ csrf: guest.csrf, username: 'alice', password })

  for (const cookie of [undefined, stranger.cookie, 'sidegate-interaction=', `x${guest.cookie}`]) {
    t.ok(isPage(await room.interaction(get('', guest.path, cookie)), 403))
    t.ok(isPage(await room.interaction(post(form, guest.path, cookie)), 403))
  }
  const among = `theme=dark; ${stranger.cookie}; ${guest.cookie}`
  t.equal((await room.interaction(get('', guest.path, among))).status, 200)
})

t.test('an unknown, malformed or expired interaction is a page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  for (const path of ['/interaction/', '/interaction/x', `/interaction/${'A'.repeat(22)}`, `${guest.path}/`]) {
    t.ok(isPage(await room.interaction(get('', path, guest.cookie)), 400))
  }
  room.advanceSec(899)
  t.ok(isPage(await guest.show(), 200))
  room.advanceSec(1)
  t.ok(isPage(await guest.show(), 400))
  t.ok(isPage(await guest.signIn(), 400))
})

t.test('a form of another content type is a page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  const reply = await room.interaction({ ...post('{}', guest.path, guest.cookie), contentType: 'application/json' })

  t.ok(isPage(reply, 400))
})

t.test('line 59: a form sent again after the end gets the same redirect, and back shows a page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  await guest.signIn()

  const allowed = header(await guest.submit({ decision: 'allow' }), 'location')

  t.equal(header(await guest.submit({ decision: 'allow' }), 'location'), allowed)
  t.equal(header(await guest.submit({ decision: 'deny' }), 'location'), allowed)
  t.equal(header(await guest.signIn(), 'location'), allowed)
  const back = await guest.show()
  t.ok(isPage(back, 200))
  t.notMatch(back.body, '<form')
})

t.test('line 59: of twenty answers at once one counts, and all see its redirect', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  await guest.signIn()

  const decisions = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'allow' : 'deny'))
  const replies = await Promise.all(decisions.map(decision => guest.submit({ decision })))

  t.equal(new Set(replies.map(reply => header(reply, 'location'))).size, 1)
})

t.test('line 59: the grant of an answer that came second is gone', async t => {
  const room = await openBrowserRoom(t)
  const { grants } = room.deps.store
  const [created, removed]: [string[], string[]] = [[], []]
  const { create, remove } = grants
  grants.create = async grant => {
    created.push(grant.grantId)
    return create(grant)
  }
  grants.remove = async grantId => {
    removed.push(grantId)
    return remove(grantId)
  }
  const guest = await enter(room)
  await guest.signIn()

  const replies = await Promise.all([1, 2, 3].map(() => guest.submit({ decision: 'allow' })))

  const [winner = ''] = (answerOf(replies[0] as OAuthReply).code ?? '').split('.')
  t.equal(created.length, 3)
  t.same(removed.toSorted(), created.filter(id => id !== winner).toSorted())
})

t.test('line 59: two tabs both finish, and a reload changes nothing', async t => {
  const room = await openBrowserRoom(t)
  const [one, two] = [await enter(room), await enter(room, ask({ state: 'tab two' }))]

  t.equal((await one.show()).status, 200)
  await one.signIn()
  await two.signIn()
  t.equal((await two.show()).status, 200)

  t.equal(answerOf(await two.submit({ decision: 'allow' })).state, 'tab two')
  t.equal(answerOf(await one.submit({ decision: 'allow' })).state, 'a-state')
})

t.test('a sign-in form sent twice leads to the same question', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  const replies = await Promise.all([guest.signIn(), guest.signIn()])
  const third = await guest.signIn()

  for (const reply of [...replies, third]) t.equal(header(reply, 'location'), guest.path)
  t.match((await guest.show()).body, /id="allow"/)
})

t.test('an answer that is neither allow nor deny is asked for again', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  await guest.signIn()

  const reply = await guest.submit({ decision: 'Allow' })

  t.ok(isPage(reply, 400))
  t.match(reply.body, /id="allow"/)
})

t.test('a redirect URI that was unregistered meanwhile is not redirected to', async t => {
  const room = await openBrowserRoom(t, [{ ...demoClient }])
  const guest = await enter(room)
  const client = room.deps.clients.find('demo')

  Object.assign(client ?? {}, { redirect_uris: ['https://elsewhere.example/cb'] })

  t.ok(isPage(await guest.submit({ decision: 'deny' }), 400))
})
