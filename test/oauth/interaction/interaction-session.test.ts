import t, { type Test } from 'tap'
import type { OAuthReply } from '../../../src/oauth/protocol.ts'
import {
  answerOf,
  type BrowserRoom,
  encode,
  enter,
  type Guest,
  get,
  header,
  isPage,
  openBrowserRoom,
  type Parameters,
  password,
  post,
} from '../support/browser-flow.ts'

/** The state of a browser at a page: its cookie and the form. */
type Held = Pick<Guest, 'path' | 'cookie' | 'csrf'>

/** A copy of the current state, for an attacker that keeps it or for a browser whose later responses are lost. */
const held = ({ path, cookie, csrf }: Guest): Held => ({ path, cookie, csrf })

const submitAs = (room: BrowserRoom, { path, cookie, csrf }: Held, fields: Parameters): Promise<OAuthReply> =>
  room.interaction(post(encode({ csrf, ...fields }), path, cookie))

const showTo = (room: BrowserRoom, { path, cookie }: Held): Promise<OAuthReply> =>
  room.interaction(get('', path, cookie))

const rightPassword = { username: 'alice', password }

/** A browser after the sign-in, and its state before it. */
const signedIn = async (t: Test) => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const before = held(guest)
  const reply = await guest.signIn()
  return { room, guest, before, reply }
}

t.test('cookie and csrf change at the sign-in (RFC 6265 section 8.4; checklist 61)', async t => {
  const { guest, before, reply } = await signedIn(t)

  t.not(guest.cookie, before.cookie)
  t.not(guest.csrf, before.csrf)
  t.match(
    String(reply.headers['set-cookie']),
    new RegExp(`^sidegate-interaction=[\\w-]{43}; Path=${guest.path}; Max-Age=900; HttpOnly; SameSite=Lax$`),
  )
})

t.test('the earlier cookie cannot use the sign-in of the user (RFC 6265 section 8.4; checklist 61)', async t => {
  const { room, guest, before } = await signedIn(t)

  t.ok(isPage(await submitAs(room, before, { decision: 'allow' }), 403))
  t.ok(isPage(await submitAs(room, { ...before, csrf: guest.csrf }, { decision: 'allow' }), 403))
  t.ok(isPage(await submitAs(room, { ...before, csrf: guest.csrf }, { decision: 'deny' }), 403))
  t.match((await guest.show()).body, /id="allow"/, 'the user still sees the consent page')

  await guest.submit({ decision: 'allow' })
  for (const decision of ['allow', 'deny']) t.ok(isPage(await submitAs(room, before, { decision }), 403))
  t.ok(isPage(await showTo(room, before), 403))
})

t.test(
  'the earlier cookie and csrf cannot forge an answer of the signed-in browser (RFC 6265 section 8.4; checklist 61)',
  async t => {
    const { room, guest, before } = await signedIn(t)

    for (const cookie of [`${guest.cookie}; ${before.cookie}`, `${before.cookie}; ${guest.cookie}`, guest.cookie]) {
      for (const decision of ['allow', 'deny']) {
        t.ok(isPage(await submitAs(room, { ...before, cookie }, { decision }), 403))
      }
    }
    t.match((await guest.show()).body, /id="allow"/, 'the user still sees the consent page')
  },
)

t.test(
  'a planted cookie does not hide the right one, before or after it (RFC 6265 section 8.4; checklist 61)',
  async t => {
    const { room, guest, before } = await signedIn(t)

    for (const cookie of [`${before.cookie}; ${guest.cookie}`, `${guest.cookie}; ${before.cookie}`]) {
      t.match((await showTo(room, { ...held(guest), cookie })).body, /id="allow"/)
    }
    const cookie = `${before.cookie}; ${guest.cookie}`
    t.ok(answerOf(await submitAs(room, { ...held(guest), cookie }, { decision: 'allow' })).code)
  },
)

t.test(
  'with the old cookie every password is wrong, also of another user (RFC 6265 section 8.4; checklist 61)',
  async t => {
    const { room, guest, before } = await signedIn(t)
    const guesses = [{}, { username: 'alice' }, { username: 'alice', password: 'wrong' }, { username: 'bob', password }]

    for (const fields of guesses) {
      const reply = await submitAs(room, before, fields)
      t.ok(isPage(reply, 400), JSON.stringify(fields))
      t.match(reply.body, /id="failure"[^>]*>Username and password do not match\.</)
      t.notMatch(reply.body, /id="allow"/)
      t.notOk(reply.headers['set-cookie'])
    }
    t.match((await guest.show()).body, /id="allow"/)
  },
)

t.test('guesses with the old cookie count like all others (RFC 6265 section 8.4; checklist 61)', async t => {
  const { room, before } = await signedIn(t)
  for (let i = 0; i < 11; i++) await submitAs(room, before, { username: 'alice', password: 'wrong' })

  const late = await submitAs(room, before, rightPassword)

  t.ok(isPage(late, 429), 'the right password is refused too')
})

t.test(
  'after a lost response to a sign-in a reload shows the form, and the password leads on (checklist 59)',
  async t => {
    const { room, before } = await signedIn(t)

    const reloaded = await showTo(room, before)
    t.match(reloaded, { status: 200, body: /id="password"/ })
    t.notMatch(reloaded.body, /id="allow"|alice/)
    const csrf = /name="csrf" value="([^"]+)"/.exec(String(reloaded.body))?.[1] ?? ''
    const again = await submitAs(room, { ...before, csrf }, rightPassword)

    t.equal(header(again, 'location'), before.path)
    const cookie = String(again.headers['set-cookie']).split(';', 1)[0] ?? ''
    t.match((await showTo(room, { ...before, cookie })).body, /id="allow"/)
  },
)

t.test(
  'after a lost response to a sign-in the user can decline, and the client gets the error (checklist 59)',
  async t => {
    const { room, guest, before } = await signedIn(t)

    const declined = await submitAs(room, before, { decision: 'deny' })
    const twice = await submitAs(room, before, { decision: 'deny' })

    t.match(answerOf(declined), { error: 'access_denied', state: 'a-state' })
    t.equal(header(twice, 'location'), header(declined, 'location'))
    t.notOk(answerOf(await guest.submit({ decision: 'allow' })).code)
  },
)

t.test(
  'a sign-in form that is sent again by the back button leads to the consent page, and then to the end (checklist 59)',
  async t => {
    const { room, guest, before } = await signedIn(t)
    const back = { ...before, cookie: guest.cookie }

    const again = await submitAs(room, back, rightPassword)
    await guest.submit({ decision: 'allow' })
    const late = await submitAs(room, back, rightPassword)

    for (const reply of [again, late]) {
      t.equal(header(reply, 'location'), guest.path)
      t.notOk(reply.headers['set-cookie'])
    }
  },
)

t.test('a sign-in form that is sent twice before the first response gets the same cookie (checklist 59)', async t => {
  const room = await openBrowserRoom(t)
  const before = held(await enter(room))

  const replies = await Promise.all(Array.from({ length: 20 }, () => submitAs(room, before, rightPassword)))
  const late = await submitAs(room, before, rightPassword)

  const cookies = new Set([...replies, late].map(reply => String(reply.headers['set-cookie'])))
  t.equal(cookies.size, 1)
  for (const reply of [...replies, late]) t.equal(header(reply, 'location'), before.path)
  const [cookie = ''] = [...cookies].map(line => line.split(';', 1)[0] ?? '')
  t.match((await showTo(room, { ...before, cookie })).body, /id="allow"/)
})

t.test(
  'a cancellation in one window during a sign-in in another one continues with the sign-in (checklist 59)',
  async t => {
    const room = await openBrowserRoom(t)
    const before = held(await enter(room))
    const { interactions } = room.deps.store
    const find = interactions.find
    // The other window is faster: it signs in after this window has read the interaction and before it has written it.
    let isFirst = true
    interactions.find = async id => {
      const found = await find(id)
      if (isFirst) {
        isFirst = false
        await submitAs(room, before, rightPassword)
      }
      return found
    }

    const cancelled = await submitAs(room, before, { decision: 'deny' })

    t.equal(header(cancelled, 'location'), before.path)
    t.equal((await interactions.find(before.path.replace('/interaction/', '')))?.record.stage, 'consent')
  },
)

t.test(
  'after the end the new cookie gets the same redirect, and the old one gets none (RFC 6265 section 8.4; checklist 61)',
  async t => {
    const { room, guest, before } = await signedIn(t)
    const allowed = header(await guest.submit({ decision: 'allow' }), 'location')

    t.equal(header(await guest.submit({ decision: 'allow' }), 'location'), allowed)
    for (const decision of ['allow', 'deny']) t.ok(isPage(await submitAs(room, before, { decision }), 403))
  },
)
