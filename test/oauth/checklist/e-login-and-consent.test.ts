import { type Posted, send } from '../support/post.ts'
import {
  answerOf,
  askToAuthorize,
  authorizationQuery,
  callback,
  enter,
  locationOf,
  type Parameters,
  redeem,
  type Visit,
} from './support/browser.ts'
import { onEachStore } from './support/each-store.ts'
import { forgetInteraction } from './support/forget.ts'

const issuer = 'https://auth.example'
const markup = '<script>alert(1)</script>'

/** Behind a proxy that terminates TLS, so that cookies have the attributes of an https site. */
const setup = () => ({
  issuer,
  clients: [
    client('app', { client_secret: 'app-secret' }),
    client('other', { client_name: `Other ${markup}`, scope: `read ${markup}` }),
  ],
})

const client = (client_id: string, changes: { readonly client_secret?: string; readonly [name: string]: unknown }) => ({
  client_id,
  ...(changes.client_secret === undefined && { token_endpoint_auth_method: 'none' }),
  redirect_uris: [callback],
  scope: 'read write',
  ...changes,
})

onEachStore('E. Login and consent', setup, async (t, section) => {
  const { url } = section
  const begin = (changes: Parameters = {}): Promise<Visit> =>
    enter(url, authorizationQuery({ state: 'a-state', ...changes }))
  const show = (page: string, cookie = ''): Promise<Posted> =>
    send(page, { method: 'GET', type: undefined, headers: { cookie, accept: 'text/html' } })
  const atConsent = async (changes?: Parameters): Promise<Visit> => {
    const visit = await begin(changes)
    await visit.signIn()
    return visit
  }

  await t.test(
    'a user that declines on either page returns to the client with access_denied, and nothing is redeemable (RFC 6749 section 4.1.2.1; checklist 52)',
    async t => {
      for (const visit of [await begin(), await atConsent()]) {
        const declined = await visit.submit({ decision: 'deny' })
        t.match(answerOf(declined), { error: 'access_denied', state: 'a-state', iss: issuer })
        t.notOk(answerOf(declined).code)

        t.notOk(answerOf(await visit.submit({ decision: 'allow' })).code, 'nor afterwards')
      }
      t.ok(answerOf(await (await atConsent()).submit({ decision: 'allow' })).code)
    },
  )

  await t.test(
    'prompt=none gets login_required, and never a page (OpenID Connect Core section 3.1.2.6; checklist 53)',
    async t => {
      const refused = await askToAuthorize(url, authorizationQuery({ prompt: 'none', state: 'a-state' }))

      t.equal(refused.status, 303)
      t.match(answerOf(refused), { error: 'login_required', state: 'a-state', iss: issuer })
    },
  )

  await t.test(
    'a form without csrf, or with a foreign or a used one, gets 403 and changes nothing (RFC 6749 section 10.12; checklist 56)',
    async t => {
      const done = await atConsent()
      const used = await done.csrf()
      await done.submit({ decision: 'allow' })
      const foreign = await (await begin()).csrf()
      for (const [visit, fields] of [
        [await begin(), { username: 'alice', password: 'wonderland' }],
        [await atConsent(), { decision: 'allow' }],
      ] as const) {
        for (const csrf of [undefined, '', 'wrong', foreign, used]) {
          const refused = await visit.submit({ ...fields, csrf })
          t.equal(refused.status, 403)
          t.notOk(refused.headers.get('location'))
        }
        t.equal((await visit.submit(fields)).status, 303, 'its own csrf is still valid')
      }
    },
  )

  await t.test(
    'another browser is refused, though it knows the URL and the csrf (RFC 6749 section 10.12; checklist 56)',
    async t => {
      const visit = await begin()
      const body = new URLSearchParams({ csrf: (await visit.csrf()) ?? '', decision: 'deny' }).toString()

      t.equal((await send(visit.page, { body, headers: { accept: 'text/html' } })).status, 403)
      t.equal((await send(visit.page, { body, headers: { cookie: (await begin()).cookies() } })).status, 403)
    },
  )

  await t.test('two tabs of one client, and tabs of two clients, all finish (checklist 59)', async t => {
    const tabs = [
      await begin({ state: '1' }),
      await begin({ state: '2' }),
      await begin({ client_id: 'other', state: '3' }),
    ]
    for (const tab of tabs) await tab.signIn()

    const codes = []
    for (const [index, tab] of tabs.toReversed().entries()) {
      const answer = answerOf(await tab.submit({ decision: 'allow' }))
      t.equal(answer.state, String(tabs.length - index))
      codes.push(answer.code ?? '')
    }
    t.equal((await redeem(url, codes[2] ?? '')).status, 200)
    t.equal((await redeem(url, codes[1] ?? '')).status, 200)
    t.equal((await redeem(url, codes[0] ?? '', { client_id: 'other' }, null)).status, 200)
  })

  await t.test(
    'a reload of either page works, and the back button after the end yields no second code (checklist 59)',
    async t => {
      const visit = await begin()
      for (let n = 0; n < 2; n++) t.match(await visit.show(), { status: 200, text: /id="password"/ })
      await visit.signIn()
      for (let n = 0; n < 2; n++) t.match(await visit.show(), { status: 200, text: /id="allow"/ })
      const csrf = await visit.csrf()
      const { code } = answerOf(await visit.submit({ decision: 'allow' }))

      const back = await visit.show()
      t.equal(back.status, 200)
      t.notMatch(back.text, /<form/)
      const again = answerOf(await visit.submit({ csrf, decision: 'allow' }))
      t.ok(code)
      t.equal(again.code, code)
    },
  )

  await t.test(
    'an expired interaction redirects to the client with the right state (RFC 6749 section 4.1.2.1; checklist 60)',
    async t => {
      const state = 'a state & more \u{1f600}'
      for (const visit of [await begin({ state }), await atConsent({ state })]) {
        const id = visit.page.split('/').at(-1) ?? ''
        await forgetInteraction(section, id)

        t.match(answerOf(await visit.show()), {
          error: /^(access_denied|temporarily_unavailable)$/,
          state,
          iss: issuer,
        })
      }
    },
  )

  await t.test('another browser gets no such redirect (RFC 6749 section 4.1.2.1; checklist 60)', async t => {
    const visit = await begin()
    await forgetInteraction(section, visit.page.split('/').at(-1) ?? '')

    const stranger = await show(visit.page, (await begin()).cookies())
    t.equal(stranger.status, 400)
    t.equal(locationOf(stranger), '')
  })

  await t.test(
    'the sign-in replaces cookie and csrf, and the old ones are invalid (RFC 6265 section 8.4; checklist 61)',
    async t => {
      const visit = await begin()
      const before = visit.cookies()
      const signedIn = await visit.signIn()

      const [line = ''] = signedIn.headers.getSetCookie()
      t.match(line, /^__Secure-[^;]+; Path=\/interaction\/[^;]+;.*HttpOnly; SameSite=Lax; Secure/)
      t.not(visit.cookies(), before)
      t.match(await show(visit.page, visit.cookies()), { status: 200, text: /id="allow"/ })
      const old = await show(visit.page, before)
      t.match(old, { status: 200, text: /id="password"/ }, 'the old ones are valid only for another sign-in')
      t.notMatch(old.text, /id="allow"|alice/)
    },
  )

  await t.test('every cookie is Secure, HttpOnly and SameSite=Lax (RFC 6265 section 8.4; checklist 61)', async t => {
    const lines = (await askToAuthorize(url, authorizationQuery())).headers.getSetCookie()

    t.ok(lines.length > 0)
    for (const line of lines) t.match(line, /^__Secure-.*; HttpOnly; SameSite=Lax; Secure/)
  })
})
