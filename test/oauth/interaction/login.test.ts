import t from 'tap'
import type { OAuthReply } from '../../../src/oauth/protocol.ts'
import { verifySecretHash } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { answerOf, encode, enter, header, isPage, openBrowserRoom, password, post } from '../support/browser-flow.ts'

const issuer = 'http://localhost:8080'

t.test('sub is the configured one, or an opaque one that stays the same', async t => {
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
  t.equal(header(await guest.signIn(), 'location'), header(last, 'location'), 'the right password comes too late')
})

t.test('the right password is accepted after a wrong one', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  for (let tries = 1; tries <= 5; tries++) await guest.submit({ username: 'alice', password: 'wrong' })
  await guest.signIn()

  t.match((await guest.show()).body, /id="allow"/)
})

t.test('concurrent guesses get the same number of attempts as sequential ones', async t => {
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

t.test('concurrent guesses in separate sign-ins get the same number of attempts as sequential ones', async t => {
  const room = await openBrowserRoom(t)
  const guests = await Promise.all(Array.from({ length: 16 }, () => enter(room)))

  const replies = await Promise.all(
    guests.map((guest, i) => guest.submit({ username: 'alice', password: i < 15 ? `guess ${i}` : password })),
  )

  t.equal(replies.filter(reply => reply.status === 400).length, 10)
  t.equal(replies.at(-1)?.status, 429, 'the right password comes after too many guesses')
})

t.test('an unknown user gets the same response as a wrong password', async t => {
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
  t.ok(isPage(await guest.submit({ decision: 'allow' }), 400), 'no consent is accepted before the sign-in')
})

t.test(
  'after ten wrong passwords for one user and address the next one is rate limited, over all interactions',
  async t => {
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
  },
)

t.test('while too many passwords are being checked the browser gets a page with Retry-After', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  const cheap = new Secret(`scrypt$ln=1,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`)

  const flood = Array.from({ length: 202 }, (_, i) => {
    const owner = { kind: 'person', account: `user ${i}`, address: `192.0.2.${i}` } as const
    return verifySecretHash({ secret: new Secret(`flood ${i}`), owner }, cheap)
  })
  const reply = await guest.submit({ username: 'nobody', password: 'wrong' })
  await Promise.all(flood)

  t.ok(isPage(reply, 503))
  t.equal(header(reply, 'retry-after'), '1')
  t.equal((await guest.signIn()).status, 303)
})

t.test('a sign-in form that is sent twice leads to the same consent page', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)

  const replies = await Promise.all([guest.signIn(), guest.signIn()])
  const third = await guest.signIn()

  for (const reply of [...replies, third]) t.equal(header(reply, 'location'), guest.path)
  t.match((await guest.show()).body, /id="allow"/)
})
