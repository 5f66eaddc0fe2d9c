import { type Posted, send } from '../support/post.ts'
import {
  answerOf,
  askToAuthorize,
  authorizationQuery,
  callback,
  enter,
  locationOf,
  type Parameters,
  type Visit,
} from './support/browser.ts'
import { onEachStore } from './support/each-store.ts'

const markup = '<script>alert(1)</script>'

const setup = () => ({
  clients: [client('app', {}), client('other', { client_name: `Other ${markup}`, scope: `read ${markup}` })],
})

const client = (client_id: string, changes: object): object => ({
  client_id,
  token_endpoint_auth_method: 'none',
  redirect_uris: [callback],
  scope: 'read',
  ...changes,
})

onEachStore('E. Pages', setup, async (t, { url }) => {
  const begin = (changes: Parameters = {}): Promise<Visit> => enter(url, authorizationQuery(changes))
  const atConsent = async (): Promise<Visit> => {
    const visit = await begin()
    await visit.signIn()
    return visit
  }
  const show = (page: string, cookie = ''): Promise<Posted> =>
    send(page, { method: 'GET', type: undefined, headers: { cookie, accept: 'text/html' } })

  await t.test(
    'every page has the headers against framing, scripts, referrers and caching (RFC 9700 section 4.16; checklist 54)',
    async t => {
      const finished = await atConsent()
      await finished.submit({ decision: 'allow' })
      const visit = await begin()
      const pages = {
        login: await visit.show(),
        'wrong password': await visit.submit({ username: 'alice', password: 'wrong' }),
        consent: await (await atConsent()).show(),
        finished: await finished.show(),
        'another browser': await show(visit.page),
        'no interaction': await show(`${url}/interaction/${'A'.repeat(22)}`),
        'bad request': await askToAuthorize(url, 'client_id=nobody'),
        'too large': await send(`${url}/authorize`, { body: 'x'.repeat(70_000) }),
      }
      for (const [name, { headers }] of Object.entries(pages)) {
        t.match(headers.get('content-type'), /^text\/html/, name)
        const policy = headers.get('content-security-policy') ?? ''
        t.match(policy, /frame-ancestors 'none'/, name)
        t.match(policy, /default-src 'none'/, name)
        t.notMatch(policy.replace('https://client.example', ''), /https?:|\*|unsafe/, `${name}: no third party`)
        t.equal(headers.get('x-frame-options'), 'DENY', name)
        t.equal(headers.get('referrer-policy'), 'no-referrer', name)
        t.equal(headers.get('x-content-type-options'), 'nosniff', name)
        t.equal(headers.get('cache-control'), 'no-store', name)
      }
    },
  )

  await t.test(
    'the authorization endpoint allows no script of another origin (RFC 9700 section 2.6; checklist 55)',
    async t => {
      const headers = { origin: 'https://evil.example' }
      const answers = [
        await askToAuthorize(url, authorizationQuery(), headers),
        await askToAuthorize(url, authorizationQuery({ scope: 'unknown' }), headers),
        await askToAuthorize(url, 'client_id=nobody', headers),
        await send((await begin()).page, { method: 'GET', type: undefined, headers }),
      ]
      for (const answer of answers) t.equal(answer.headers.get('access-control-allow-origin'), null)
      const metadata = `${url}/.well-known/oauth-authorization-server`
      t.equal((await send(metadata, { method: 'GET', headers })).headers.get('access-control-allow-origin'), '*')
    },
  )

  await t.test(
    'markup in every text and parameter is shown as text (RFC 6749 section 10.14; checklist 57)',
    async t => {
      const visit = await begin({ client_id: 'other', scope: markup, state: markup })
      const pages = [
        await visit.show(),
        await visit.submit({ username: `"><${markup}`, password: 'wrong' }),
        await visit.submit({ username: '" onfocus="alert(1)', password: 'wrong' }),
        await askToAuthorize(url, `client_id=${encodeURIComponent(markup)}&error_description=${markup}`),
      ]
      await visit.signIn()
      for (const { text } of [...pages, await visit.show()]) t.notMatch(text, /<script|" onfocus=/i)
      t.match((await visit.show()).text, /&lt;script&gt;/, 'the scope is shown')
      t.equal(answerOf(await visit.submit({ decision: 'deny' })).state, markup)
    },
  )

  await t.test(
    'no parameter redirects the browser to another origin (RFC 9700 section 4.11; checklist 58)',
    async t => {
      const evil = 'https://evil.example/'
      const extras = ['return_to', 'lang', 'ui_locales', 'next', 'redirect', 'url']
        .map(name => `${name}=${evil}`)
        .join('&')
      const visit = await enter(url, `${authorizationQuery()}&${extras}`)
      const shown = await show(`${visit.page}?${extras}`, visit.cookies())
      const csrf = await visit.csrf()
      const headers = { cookie: visit.cookies() }
      const body = `csrf=${csrf}&username=alice&password=wonderland&${extras}`
      const signedIn = await send(visit.page, { body, headers })

      t.equal(shown.status, 200)
      t.notMatch(shown.text, 'evil.example')
      t.equal(signedIn.status, 303)
      t.equal(new URL(locationOf(signedIn), visit.page).href, visit.page)
    },
  )
})
