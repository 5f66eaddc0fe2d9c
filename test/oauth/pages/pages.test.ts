import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { escapeHtml, html } from '../../../src/oauth/pages/html.ts'
import { pageContextOf } from '../../../src/oauth/pages/page.ts'
import { refusalPage } from '../../../src/oauth/pages/refusal-page.ts'
import type { OAuthReply } from '../../../src/oauth/protocol.ts'
import { ask, demoClient, enter, get, header, openBrowserRoom } from '../support/browser-flow.ts'

/** One reply of every page, by name; the client's name would be a script if it were markup. */
const attack = '"><script>alert(1)</script>'
const everyPage = async (t: Test): Promise<Readonly<Record<string, OAuthReply>>> => {
  const room = await openBrowserRoom(t, [{ ...demoClient, client_name: attack }])
  const guest = await enter(room, ask({ state: attack }))
  const signIn = await guest.show()
  const wrong = await guest.submit({ username: attack, password: 'wrong' })
  await guest.signIn()
  const consent = await guest.show()
  const foreign = await guest.submit({ csrf: attack, decision: attack })
  await guest.submit({ decision: 'allow' })
  return {
    signIn,
    wrong,
    consent,
    foreign,
    finished: await guest.show(),
    expired: await room.interaction(get('', '/interaction/<script>')),
    ...refusals(room.deps.options.issuer),
    unaddressed: await room.authorize(get(ask({ client_id: attack, error_description: attack }))),
  }
}

const inEnglish = { acceptLanguage: 'en' }

/** The gateway's own refusals, whose texts depend on their status. */
const refusals = (issuer: string): Readonly<Record<string, OAuthReply>> =>
  Object.fromEntries(
    [400, 405, 408, 413, 429, 500, 503].map(status => [
      `refusal ${status}`,
      refusalPage(pageContextOf(issuer, inEnglish), { status, description: attack, requestId: attack, ...inEnglish }),
    ]),
  )

t.test(
  'every page has the headers against framing, scripts, referrers and caching (RFC 9700 section 4.16; checklist 54)',
  async t => {
    for (const [name, page] of Object.entries(await everyPage(t))) {
      const policy = header(page, 'content-security-policy').split('; ')
      t.equal(header(page, 'content-type'), 'text/html; charset=utf-8', name)
      t.ok(policy.includes("default-src 'none'"), name)
      t.ok(policy.includes("frame-ancestors 'none'"), name)
      t.ok(policy.includes("base-uri 'none'"), name)
      t.equal(header(page, 'x-frame-options'), 'DENY', name)
      t.equal(header(page, 'referrer-policy'), 'no-referrer', name)
      t.equal(header(page, 'x-content-type-options'), 'nosniff', name)
      t.equal(header(page, 'cache-control'), 'no-store', name)
    }
  },
)

t.test(
  'the policy allows only the inline style as a source, by its hash (RFC 9700 section 4.16; checklist 54)',
  async t => {
    for (const [name, page] of Object.entries(await everyPage(t))) {
      const policy = header(page, 'content-security-policy')
      const style = /<style>([\s\S]*?)<\/style>/.exec(String(page.body))?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      t.ok(policy.includes(`style-src 'sha256-${hash}';`), name)
      t.notMatch(policy, /unsafe|\*|https:|data:/, name)
      t.notMatch(page.body, /<script|<img|<link|<iframe|\sstyle=|\son\w+=|https?:\/\//, name)
    }
  },
)

t.test('form-action allows only the client, and a page without a form allows none', async t => {
  const pages = await everyPage(t)
  const formAction = (page: OAuthReply | undefined): string =>
    /form-action [^;]+/.exec(page ? header(page, 'content-security-policy') : '')?.[0] ?? ''

  t.equal(formAction(pages.signIn), "form-action 'self' http://127.0.0.1:3000")
  t.equal(formAction(pages.consent), "form-action 'self' http://127.0.0.1:3000")
  t.equal(formAction(pages.unaddressed), "form-action 'none'")
})

t.test('an app with its own scheme, or on an IPv6 address, is allowed by its scheme', async t => {
  const uris = ['com.example.app:/cb', 'http://[::1]:4000/cb']
  const room = await openBrowserRoom(t, [{ ...demoClient, redirect_uris: uris }])
  const policyFor = async (redirect_uri: string): Promise<string> =>
    header(await (await enter(room, ask({ redirect_uri }))).show(), 'content-security-policy')

  t.match(await policyFor('com.example.app:/cb'), /form-action 'self' com\.example\.app:;/)
  t.match(await policyFor('http://[::1]:4000/cb'), /form-action 'self' http:;/)
})

t.test('a client name with markup is text on every page (RFC 6749 section 10.14; checklist 57)', async t => {
  for (const [name, page] of Object.entries(await everyPage(t))) {
    t.notMatch(page.body, '<script', name)
    t.notMatch(page.body, 'alert(1)</', name)
  }
})

t.test(
  'one function escapes the characters that could end a text or an attribute (RFC 6749 section 10.14; checklist 57)',
  async t => {
    t.equal(escapeHtml(`<a href="x" title='y'>&amp;`), '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;')
    t.equal(
      String(html`<p title="${'"'}">${[html`<b>${'<'}</b>`, html`<i></i>`]}${undefined}${7}</p>`),
      '<p title="&quot;"><b>&lt;</b><i></i>7</p>',
    )
  },
)

t.test('the pages have stable ids for automation, and field names for password managers', async t => {
  const pages = await everyPage(t)
  for (const id of ['username', 'password', 'sign-in', 'deny']) t.match(pages.signIn?.body, new RegExp(`id="${id}"`))
  for (const id of ['allow', 'deny']) t.match(pages.consent?.body, new RegExp(`id="${id}"`))
  t.match(pages.signIn?.body, /autocomplete="username"/)
  t.match(pages.signIn?.body, /autocomplete="current-password"/)
  t.match(pages.wrong?.body, /aria-describedby="failure"/)
})
