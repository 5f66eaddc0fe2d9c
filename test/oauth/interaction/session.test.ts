import t from 'tap'
import type { OAuthReply } from '../../../src/oauth/wire.ts'
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
  password,
  post,
} from '../support/browser-flow.ts'

/** A form sent with a cookie of the test's choice. */
const submitAs = (
  room: BrowserRoom,
  guest: Guest,
  cookie: string,
  fields: Readonly<Record<string, string>>,
): Promise<OAuthReply> => room.interaction(post(encode({ csrf: guest.csrf, ...fields }), guest.path, cookie))

const rightPassword = { username: 'alice', password }

t.test('line 61: the cookie changes at the sign-in, and the one from before opens nothing any more', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const before = guest.cookie

  const signedIn = await guest.signIn()

  t.not(guest.cookie, before)
  t.match(
    String(signedIn.headers['set-cookie']),
    new RegExp(`^sidegate-interaction=[\\w-]{43}; Path=${guest.path}; Max-Age=900; HttpOnly; SameSite=Lax$`),
  )
  t.ok(isPage(await room.interaction(get('', guest.path, before)), 403))
  for (const decision of ['allow', 'deny']) t.ok(isPage(await submitAs(room, guest, before, { decision }), 403))
  t.match((await guest.show()).body, /id="allow"/)
})

t.test('line 61: who planted the cookie and knows the page cannot use what the person did', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const planted = guest.cookie
  await guest.signIn()

  const guesses = [{}, { username: 'alice' }, { username: 'alice', password: 'wrong' }, { username: 'bob', password }]
  for (const fields of guesses) {
    const reply = await submitAs(room, guest, planted, fields)
    t.ok(isPage(reply, 403), JSON.stringify(fields))
    t.notOk(reply.headers['set-cookie'])
  }
  await guest.submit({ decision: 'allow' })
  t.ok(isPage(await submitAs(room, guest, planted, { decision: 'allow' }), 403))
  t.ok(isPage(await room.interaction(get('', guest.path, planted)), 403))
})

t.test('line 61: the csrf changes with the cookie: who knew both from before forges no consent', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const { cookie: planted, csrf: known } = guest
  await guest.signIn()

  t.not(guest.csrf, known)
  for (const cookie of [`${guest.cookie}; ${planted}`, `${planted}; ${guest.cookie}`, guest.cookie]) {
    for (const decision of ['allow', 'deny']) {
      const form = encode({ csrf: known, decision })
      t.ok(isPage(await room.interaction(post(form, guest.path, cookie)), 403))
    }
  }
  t.match((await guest.show()).body, /id="allow"/, 'the person is still asked')
})

t.test('line 61: a planted cookie does not stand in the way of the right one, wherever it stands', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const planted = guest.cookie
  await guest.signIn()

  for (const cookie of [`${planted}; ${guest.cookie}`, `${guest.cookie}; ${planted}`]) {
    t.match((await room.interaction(get('', guest.path, cookie))).body, /id="allow"/)
  }
  t.ok(answerOf(await submitAs(room, guest, `${planted}; ${guest.cookie}`, { decision: 'allow' })).code)
})

t.test(
  'line 59: the sign-in form sent again by the back button leads to the question, and once more to the end',
  async t => {
    const room = await openBrowserRoom(t)
    const guest = await enter(room)
    const form = encode({ csrf: guest.csrf, ...rightPassword })
    await guest.signIn()

    const again = await room.interaction(post(form, guest.path, guest.cookie))
    await guest.submit({ decision: 'allow' })
    const late = await room.interaction(post(form, guest.path, guest.cookie))

    for (const reply of [again, late]) {
      t.equal(header(reply, 'location'), guest.path)
      t.notOk(reply.headers['set-cookie'])
    }
  },
)

t.test('line 61: guesses with the old cookie count as all others do', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const before = guest.cookie
  await guest.signIn()
  for (let i = 0; i < 11; i++) await submitAs(room, guest, before, { username: 'alice', password: 'wrong' })

  const late = await submitAs(room, guest, before, rightPassword)

  t.ok(isPage(late, 403), 'the right password is not heard any more')
})

t.test('line 59: a sign-in form sent twice before the first answer came gets the same cookie', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const before = guest.cookie

  const replies = await Promise.all(Array.from({ length: 20 }, () => submitAs(room, guest, before, rightPassword)))
  const late = await submitAs(room, guest, before, rightPassword)

  const cookies = new Set([...replies, late].map(reply => String(reply.headers['set-cookie'])))
  t.equal(cookies.size, 1)
  for (const reply of [...replies, late]) t.equal(header(reply, 'location'), guest.path)
  const [cookie = ''] = [...cookies].map(line => line.split(';', 1)[0] ?? '')
  t.match((await room.interaction(get('', guest.path, cookie))).body, /id="allow"/)
})

t.test('line 59: who cancels in one window while another one signs in goes on with the sign-in', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const { interactions } = room.deps.store
  const find = interactions.find
  // The other window is faster: it signs in between this one's look at the interaction and its answer.
  let isFirst = true
  const before = guest.cookie
  interactions.find = async id => {
    const found = await find(id)
    if (isFirst) {
      isFirst = false
      await submitAs(room, guest, before, rightPassword)
    }
    return found
  }

  const cancelled = await submitAs(room, guest, before, { decision: 'deny' })

  t.equal(header(cancelled, 'location'), guest.path)
  t.match((await interactions.find(guest.path.replace('/interaction/', '')))?.record.stage, 'consent')
})

t.test('line 61: after the end the new cookie gets the same redirect, and the old one none', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const before = guest.cookie
  await guest.signIn()
  const allowed = header(await guest.submit({ decision: 'allow' }), 'location')

  t.equal(header(await guest.submit({ decision: 'allow' }), 'location'), allowed)
  t.ok(isPage(await submitAs(room, guest, before, { decision: 'allow' }), 403))
  t.ok(answerOf(await guest.signIn()).code)
})
