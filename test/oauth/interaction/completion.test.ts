import t from 'tap'
import type { OAuthReply } from '../../../src/oauth/protocol.ts'
import {
  answerOf,
  ask,
  type BrowserRoom,
  callback,
  enter,
  get,
  header,
  isPage,
  openBrowserRoom,
} from '../support/browser-flow.ts'

const issuer = 'http://localhost:8080'

t.test(
  'a code is bound to the redirect_uri of the request, or to its absence (RFC 6749 section 4.1.3; checklist 30)',
  async t => {
    const room = await openBrowserRoom(t)
    const codeFor = async (query: string): Promise<string> => {
      const guest = await enter(room, query)
      await guest.signIn()
      return answerOf(await guest.submit({ decision: 'allow' })).code ?? ''
    }

    t.match(await room.redeem(await codeFor(ask({ redirect_uri: undefined })), ''), { kind: 'redeemed' })
    t.match(await room.redeem(await codeFor(ask()), `${callback}/`), { kind: 'refused' })
  },
)

t.test(
  'the store never has a code, not even for a repeated redirect (RFC 6749 section 10.10; checklist 31)',
  async t => {
    const room = await openBrowserRoom(t)
    const guest = await enter(room)
    await guest.signIn()

    const code = answerOf(await guest.submit({ decision: 'allow' })).code ?? ''

    const found = await room.deps.store.interactions.find(guest.path.replace('/interaction/', ''))
    t.equal(found?.record.stage, 'done')
    const [grantId = '', secret = ''] = code.split('.')
    t.ok(grantId && secret)
    t.notMatch(JSON.stringify(found), secret)
  },
)

t.test(
  'a user that declines on either page returns to the client with access_denied, and nothing is redeemable (RFC 6749 section 4.1.2.1; checklist 52)',
  async t => {
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
  },
)

t.test(
  'a form that is sent again after the end gets the same redirect, and the back button shows a page (checklist 59)',
  async t => {
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
  },
)

t.test('of twenty concurrent answers one counts, and all get its redirect (checklist 59)', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  await guest.signIn()

  const decisions = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'allow' : 'deny'))
  const replies = await Promise.all(decisions.map(decision => guest.submit({ decision })))

  t.equal(new Set(replies.map(reply => header(reply, 'location'))).size, 1)
})

t.test('the grant of the second answer is removed (checklist 59)', async t => {
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

t.test('two tabs both finish, and a reload changes nothing (checklist 59)', async t => {
  const room = await openBrowserRoom(t)
  const [one, two] = [await enter(room), await enter(room, ask({ state: 'tab two' }))]

  t.equal((await one.show()).status, 200)
  await one.signIn()
  await two.signIn()
  t.equal((await two.show()).status, 200)

  t.equal(answerOf(await two.submit({ decision: 'allow' })).state, 'tab two')
  t.equal(answerOf(await one.submit({ decision: 'allow' })).state, 'a-state')
})

t.test('after an answer that is neither allow nor deny the page is shown again', async t => {
  const room = await openBrowserRoom(t)
  const guest = await enter(room)
  await guest.signIn()

  const reply = await guest.submit({ decision: 'Allow' })

  t.ok(isPage(reply, 400))
  t.match(reply.body, /id="allow"/)
})

/** The authorization request of a browser with the request_uri of a pushed request. */
const pushRequest = async (room: BrowserRoom): Promise<string> => {
  const pushedId = 'p'.repeat(22)
  const parameters = Object.fromEntries(new URLSearchParams(ask()))
  await room.deps.store.pushed.create(pushedId, { client_id: 'demo', parameters }, 1_700_000_060_000)
  return `client_id=demo&request_uri=urn:ietf:params:oauth:request_uri:${pushedId}`
}

t.test(
  'of windows with one pushed request the first answer gets a code, all others get a page (RFC 9126 section 4; checklist 63)',
  async t => {
    const room = await openBrowserRoom(t)
    const query = await pushRequest(room)
    const guests = [await enter(room, query), await enter(room, query), await enter(room, query)]
    for (const guest of guests) await guest.signIn()

    const replies = await Promise.all(guests.map(guest => guest.submit({ decision: 'allow' })))

    t.same(replies.map(({ status }) => status).toSorted(), [303, 400, 400])
    const loser = guests[replies.findIndex(({ status }) => status === 400)]
    t.ok(isPage((await loser?.submit({ decision: 'deny' })) as OAuthReply, 400), 'and no other answer')
    t.ok(isPage(await room.authorize(get(query)), 400), 'and the request is over')
  },
)

t.test(
  'a pushed request is over after a denial too, and not after a reload (RFC 9126 section 4; checklist 63)',
  async t => {
    const room = await openBrowserRoom(t)
    const query = await pushRequest(room)
    const guest = await enter(room, query)
    t.equal((await room.authorize(get(query))).status, 303)

    t.equal(answerOf(await guest.submit({ decision: 'deny' })).error, 'access_denied')

    t.ok(isPage(await room.authorize(get(query)), 400))
  },
)

t.test(
  'a user that started in time may finish after the pushed request has expired (RFC 9126 section 4; checklist 63)',
  async t => {
    const room = await openBrowserRoom(t)
    const guest = await enter(room, await pushRequest(room))
    room.advanceSec(120)
    await guest.signIn()

    t.ok(answerOf(await guest.submit({ decision: 'allow' })).code)
  },
)

t.test('the grant of a sign-in dates from the start of the sign-in, however late it ends', async t => {
  const room = await openBrowserRoom(t)
  const beganAtSec = Math.floor(room.deps.clock.nowMs() / 1000)
  const guest = await enter(room)
  room.advanceSec(600)
  await guest.signIn()

  const { code = '' } = answerOf(await guest.submit({ decision: 'allow' }))

  t.match(await room.redeem(code), { kind: 'redeemed', record: { beganAtSec, authTimeSec: beganAtSec + 600 } })
})
