import t from 'tap'
import { createClients } from '../../../src/oauth/clients/configured-clients.ts'
import {
  answerOf,
  ask,
  demoClient,
  encode,
  enter,
  get,
  header,
  isPage,
  openBrowserRoom,
  password,
  post,
} from '../support/browser-flow.ts'

const issuer = 'http://localhost:8080'

const ticketOf = (cookies: string): string => /sidegate-return=([^;]*)/.exec(cookies)?.[1] ?? ''

t.test(
  'an expired interaction redirects to the client, with its state and with iss (RFC 6749 section 4.1.2.1; checklist 60)',
  async t => {
    const room = await openBrowserRoom(t)
    const guest = await enter(room, ask({ state: 'ünï &#%0d' }))
    const again = await enter(room)
    room.advanceSec(899)
    t.ok(isPage(await guest.show(), 200))
    room.advanceSec(1)

    const shown = await guest.show()
    const form = encode({ csrf: again.csrf, username: 'alice', password })
    const submitted = await room.interaction(post(form, again.path, again.cookie))

    t.equal(shown.status, 303)
    t.match(answerOf(shown), { error: 'access_denied', state: 'ünï &#%0d', iss: issuer })
    t.match(answerOf(submitted), { error: 'access_denied', state: 'a-state', iss: issuer })
    t.notOk(answerOf(submitted).code)
  },
)

t.test('the redirect has no state if the request had none (RFC 6749 section 4.1.2.1; checklist 60)', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room, ask({ state: undefined }))
  room.advanceSec(900)

  t.same(Object.keys(answerOf(await guest.show())).toSorted(), ['error', 'error_description', 'iss'])
})

t.test(
  'a return cookie that was changed, or is of another interaction, causes no redirect (RFC 6749 section 4.1.2.1; checklist 60)',
  async t => {
    const room = await openBrowserRoom(t)
    const [guest, other] = [await enter(room), await enter(room, ask({ state: 'other' }))]
    room.advanceSec(900)
    const ticket = ticketOf(guest.cookie)
    const [payload = '', mac = ''] = ticket.split('.')
    const address = ['demo', 'https://evil.example/cb', 'a-state', 1_800_000_000]
    const forged = Buffer.from(JSON.stringify(address)).toString('base64url')

    for (const bad of [
      ticketOf(other.cookie),
      `${forged}.${mac}`,
      `${payload}.`,
      `${payload}.${mac}x`,
      payload,
      '',
      '.',
    ]) {
      t.ok(isPage(await room.interaction(get('', guest.path, `sidegate-return=${bad}`)), 400), bad)
    }
    t.equal((await room.interaction(get('', guest.path, `sidegate-return=x.y; sidegate-return=${ticket}`))).status, 303)
  },
)

t.test(
  'the gateway does not redirect to a redirect URI that was removed (RFC 6749 section 4.1.2.1; checklist 60)',
  async t => {
    const room = await openBrowserRoom(t, [{ ...demoClient }])
    const guest = await enter(room)
    room.advanceSec(900)

    Object.assign(
      room.deps.clients,
      createClients([{ ...demoClient, redirect_uris: ['https://elsewhere.example/cb'] }]),
    )

    t.ok(isPage(await guest.show(), 400))
  },
)

t.test('a day after the end the return cookie is invalid (RFC 6749 section 4.1.2.1; checklist 60)', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const { cookie } = guest

  room.advanceSec(900 + 24 * 3600 - 1)
  t.equal((await room.interaction(get('', guest.path, cookie))).status, 303)
  room.advanceSec(1)
  t.ok(isPage(await room.interaction(get('', guest.path, cookie)), 400))
})

t.test('the return cookie has at most 600 bytes: a sign-in with a longer state gets none, and works', async t => {
  const room = await openBrowserRoom(t)
  const ticketFor = async (length: number): Promise<string> =>
    String((await room.authorize(get(ask({ state: 's'.repeat(length) })))).headers['set-cookie'])
      .split(/,(?=sidegate)/)
      .map(line => line.split(';', 1)[0] ?? '')
      .find(pair => pair.startsWith('sidegate-return=')) ?? ''

  const lengths = [0, 100, 300, 320, 340, 360, 2048]
  const tickets = await Promise.all(lengths.map(ticketFor))

  t.ok(tickets.every(ticket => ticket.length < 600))
  t.same(tickets.map(ticket => ticket !== '').slice(0, 3), [true, true, true])
  t.equal(tickets.at(-1), '')
  const guest = await enter(room, ask({ state: 's'.repeat(2048) }))
  await guest.signIn()
  t.equal(answerOf(await guest.submit({ decision: 'allow' })).state, 's'.repeat(2048))
})

t.test('the return cookie is removed when the user returns to the client', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  t.ok(ticketOf(guest.cookie))
  await guest.signIn()

  const done = await guest.submit({ decision: 'allow' })

  t.ok(String(done.headers['set-cookie']).includes(`sidegate-return=; Path=${guest.path}; Max-Age=0;`))
  t.notOk(ticketOf(guest.cookie))
  room.advanceSec(900)
  t.ok(isPage(await guest.show(), 400), 'so the client gets no error of expiry after the end')
  t.ok(header(done, 'location'))
})
