import t from 'tap'
import { answerOf, ask, get, header, isPage } from '../support/browser-flow.ts'
import { accept, loginUrl, openHandoffRoom, send } from './support.ts'

const issuer = 'http://localhost:8080'

t.test("the browser is redirected to the operator's login with the id of the interaction and a cookie", async t => {
  const room = await openHandoffRoom(t)

  const { begun, id } = await send(room)

  t.equal(begun.status, 303)
  t.equal(header(begun, 'location'), `${loginUrl}&interaction=${id}`)
  t.match(id, /^[\w-]{22}$/)
  t.match(begun.headers['set-cookie']?.[0], new RegExp(`; Path=/interaction/${id}; .*HttpOnly; SameSite=Lax`))
})

t.test('a user that the login accepts returns to the client with a code for the granted scope', async t => {
  const room = await openHandoffRoom(t)
  const browser = await send(room, ask({ scope: 'accounts:read accounts:write', acr_values: 'low high' }))

  const resume = await accept(room, browser.id, {
    sub: 'person-1',
    username: 'Zoë',
    acr: 'high',
    amr: ['pwd', 'otp'],
    auth_time: 1_699_999_990,
    granted_scopes: ['accounts:read'],
  })
  const done = await browser.follow(resume)

  t.match(resume, new RegExp(`^${issuer}/interaction/${browser.id}/resume\\?token=[\\w-]{43}$`))
  t.equal(done.status, 303)
  t.equal(header(done, 'cache-control'), 'no-store')
  t.match(answerOf(done), { state: 'a-state', iss: issuer })
  t.same(await room.redeem(answerOf(done).code ?? ''), {
    kind: 'redeemed',
    untilMs: 1_700_000_600_000,
    record: {
      client_id: 'demo',
      sub: 'person-1',
      username: 'Zoë',
      scope: 'accounts:read',
      resource: [],
      authTimeSec: 1_699_999_990,
      beganAtSec: 1_700_000_000,
      acr: 'high',
    },
  })
})

t.test('a resume URL is refused without the cookie, and the cookie without the token', async t => {
  const room = await openHandoffRoom(t)
  const [browser, stranger] = [await send(room), await send(room)]
  const [resume, strangersResume] = [await accept(room, browser.id), await accept(room, stranger.id)]
  const tokenOf = (url: string): string => new URL(url).searchParams.get('token') ?? ''
  const path = `/interaction/${browser.id}/resume`

  t.ok(isPage(await browser.follow(resume, ''), 403))
  t.ok(isPage(await browser.follow(resume, stranger.cookie()), 403))
  for (const query of ['', '?token=', `?token=${tokenOf(resume)}x`, `?token=${tokenOf(strangersResume)}`]) {
    t.ok(isPage(await browser.follow(path + query), 403), query)
  }
  t.ok(isPage(await browser.follow(`${path}?token=${tokenOf(resume)}&token=${tokenOf(resume)}`), 403))
  t.ok(answerOf(await browser.follow(resume)).code, 'none of the attempts has spent it')
})

t.test('a resume before the decision of the login is refused', async t => {
  const room = await openHandoffRoom(t)
  const browser = await send(room)

  t.ok(isPage(await browser.follow(`/interaction/${browser.id}/resume?token=${'A'.repeat(43)}`), 403))
})

t.test('a client whose users may change the browser needs only the token', async t => {
  const room = await openHandoffRoom(t, { bindToBrowser: false })
  const browser = await send(room)
  const resume = await accept(room, browser.id)

  t.ok(isPage(await browser.follow(`${resume}x`, ''), 403))
  const done = await browser.follow(resume, '')

  t.match(await room.redeem(answerOf(done).code ?? ''), { kind: 'redeemed' })
  t.equal(header(await browser.follow(resume, ''), 'location'), header(done, 'location'))
})

t.test('of twenty concurrent resumes one counts, and all get its redirect (checklist 59)', async t => {
  const room = await openHandoffRoom(t)
  const browser = await send(room)
  const cookie = browser.cookie()
  const resume = await accept(room, browser.id)

  const replies = await Promise.all(Array.from({ length: 20 }, () => browser.follow(resume, cookie)))

  const places = new Set(replies.map(reply => header(reply, 'location')))
  t.equal(places.size, 1)
  t.match([...places][0], /[?&]code=/)
  t.equal(header(await browser.follow(resume), 'location'), [...places][0], 'and so does a later one')
})

t.test('the store has neither code nor token (RFC 6749 section 10.10; checklist 31)', async t => {
  const room = await openHandoffRoom(t)
  const browser = await send(room)
  const resume = await accept(room, browser.id)
  const { code = '' } = answerOf(await browser.follow(resume))

  const found = JSON.stringify(await room.deps.store.interactions.find(browser.id))

  t.match(found, /"stage":"done"/)
  t.notMatch(found, code.split('.')[1] ?? code)
  t.notMatch(found, new URL(resume).searchParams.get('token') ?? resume)
})

t.test(
  'a user that the login rejects returns to the client with its error, and nothing is redeemable (RFC 6749 section 4.1.2.1; checklist 52)',
  async t => {
    const room = await openHandoffRoom(t)
    const rejections = [
      { error: 'access_denied', description: 'No.' },
      { error: 'login_required' },
      { error: 'temporarily_unavailable', description: 'The card reader is away.' },
    ]

    for (const rejection of rejections) {
      const browser = await send(room)
      const answer = await room.backChannel.reject(browser.id, rejection)
      const resume = answer.kind === 'answer' ? String(answer.body.redirect_to) : ''
      const back = answerOf(await browser.follow(resume))
      t.match(back, { error: rejection.error, state: 'a-state', iss: issuer })
      t.equal(back.error_description, rejection.description ?? 'The sign-in was rejected.')
      t.notOk(back.code)
    }
  },
)

t.test('the URL of the interaction redirects to the login again, and shows a page after the end', async t => {
  const room = await openHandoffRoom(t)
  const [browser, stranger] = [await send(room), await send(room)]
  const own = `/interaction/${browser.id}`

  t.equal(header(await browser.follow(own), 'location'), `${loginUrl}&interaction=${browser.id}`)
  t.ok(isPage(await browser.follow(own, stranger.cookie()), 403))
  await browser.follow(await accept(room, browser.id))
  t.ok(isPage(await browser.follow(own), 200))
})

t.test(
  'a resume after the expiry redirects to the client with an error (RFC 6749 section 4.1.2.1; checklist 60)',
  async t => {
    const room = await openHandoffRoom(t)
    const [browser, other] = [await send(room), await send(room, ask({ state: 'other' }))]
    const resume = await accept(room, browser.id)
    room.advanceSec(900)

    t.match(answerOf(await browser.follow(resume)), { error: 'access_denied', state: 'a-state', iss: issuer })
    t.match(answerOf(await other.follow(`/interaction/${other.id}`)), { error: 'access_denied', state: 'other' })
    t.ok(isPage(await browser.follow(resume, ''), 400), 'without the return cookie the client is unknown')
  },
)

t.test(
  'of two windows with one pushed request one gets a code, also through the login API (RFC 9126 section 4; checklist 63)',
  async t => {
    const room = await openHandoffRoom(t)
    const pushedId = 'p'.repeat(22)
    const parameters = Object.fromEntries(new URLSearchParams(ask()))
    await room.deps.store.pushed.create(pushedId, { client_id: 'demo', parameters }, 1_700_000_060_000)
    const query = `client_id=demo&request_uri=urn:ietf:params:oauth:request_uri:${pushedId}`
    const [one, two] = [await send(room, query), await send(room, query)]
    const resumes = [await accept(room, one.id), await accept(room, two.id)]

    const first = await one.follow(resumes[0] ?? '')
    const second = await two.follow(resumes[1] ?? '')

    t.ok(answerOf(first).code)
    t.ok(isPage(second, 400))
    t.equal(header(await one.follow(resumes[0] ?? ''), 'location'), header(first, 'location'))
  },
)

t.test('HEAD of the resume URL is refused and spends nothing, and GET works after it', async t => {
  const room = await openHandoffRoom(t)
  const browser = await send(room)
  const resume = new URL(await accept(room, browser.id))
  const head = { ...get(resume.search.slice(1), resume.pathname, browser.cookie()), method: 'HEAD' }

  await t.rejects(room.interaction(head), { code: 'invalid_request', status: 405, headers: { allow: 'GET' } })

  t.equal((await room.deps.store.interactions.find(browser.id))?.record.stage, 'accepted')
  t.ok(answerOf(await browser.follow(resume.href)).code)
})
