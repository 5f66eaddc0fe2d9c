import t from 'tap'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
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
  locationOf,
  openBrowserRoom,
  password,
  post,
} from '../support/browser-flow.ts'

const issuer = 'http://localhost:8080'

t.test('a user that signs in and allows returns to the client with a redeemable code', async t => {
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

t.test('a request without scope gets the whole registered scope', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room, ask({ scope: undefined }))

  await guest.signIn()
  const outcome = await room.redeem(answerOf(await guest.submit({ decision: 'allow' })).code ?? '')

  t.match(outcome, { record: { scope: 'accounts:read accounts:write offline_access' } })
})

t.test(
  'a form without, with a foreign, or with a changed csrf is refused and changes nothing (RFC 6749 section 10.12; checklist 56)',
  async t => {
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
  },
)

t.test(
  'the csrf of one interaction is refused in another, also of the same browser (RFC 6749 section 10.12; checklist 56)',
  async t => {
    const room = await openBrowserRoom(t)
    const [used, open] = [await enter(room), await enter(room)]
    await used.signIn()
    t.equal((await used.submit({ decision: 'allow' })).status, 303)
    const bothCookies = `${used.cookie}; ${open.cookie}`

    const form = encode({ csrf: used.csrf, username: 'alice', password })
    t.ok(isPage(await room.interaction(post(form, open.path, bothCookies)), 403))

    t.match((await open.show()).body, /id="sign-in"/)
    t.equal((await open.signIn()).status, 303)
  },
)

t.test(
  'another browser is refused, though it knows the URL and the csrf (RFC 6749 section 10.12; checklist 56)',
  async t => {
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
  },
)

t.test('an unknown or malformed interaction gets a page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  for (const path of ['/interaction/', '/interaction/x', `/interaction/${'A'.repeat(22)}`, `${guest.path}/`]) {
    t.ok(isPage(await room.interaction(get('', path, guest.cookie)), 400))
  }
})

t.test('a form of another content type gets a page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  const reply = await room.interaction({ ...post('{}', guest.path, guest.cookie), contentType: 'application/json' })

  t.ok(isPage(reply, 400))
})

t.test('a form of more than a hundred parameters gets a page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  t.ok(isPage(await room.interaction(post('a=1&'.repeat(101), guest.path, guest.cookie)), 400))
})

t.test('the gateway does not redirect to a redirect URI that was removed meanwhile', async t => {
  const room = await openBrowserRoom(t, [{ ...demoClient }])
  const guest = await enter(room)

  Object.assign(room.deps.clients, createClients([{ ...demoClient, redirect_uris: ['https://elsewhere.example/cb'] }]))

  t.ok(isPage(await guest.submit({ decision: 'deny' }), 400))
})
