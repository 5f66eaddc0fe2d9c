import t, { type Test } from 'tap'
import { startRedis } from '../../support/redis.ts'
import { authorizationQuery } from '../checklist/support/browser.ts'
import { callback, startOAuth, users } from '../support/running.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const isGuardedPage = (t: Test, response: Response): void => {
  t.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
  t.match(response.headers.get('content-security-policy'), /frame-ancestors 'none'/)
  t.equal(response.headers.get('x-frame-options'), 'DENY')
  t.equal(response.headers.get('referrer-policy'), 'no-referrer')
  t.equal(response.headers.get('x-content-type-options'), 'nosniff')
  t.equal(response.headers.get('cache-control'), 'no-store')
}

t.test(
  'a refusal of the gateway to a browser is a page with the same headers (RFC 9700 section 4.16; checklist 54)',
  async t => {
    const { url } = await startOAuth(t)
    const headers = { accept: browser }
    const refused: readonly (readonly [number, string, RequestInit])[] = [
      [405, '/authorize', { method: 'PUT' }],
      [405, '/interaction/x', { method: 'DELETE' }],
      [413, '/authorize', { method: 'POST', body: new URLSearchParams({ state: 'x'.repeat(70_000) }) }],
    ]

    for (const [status, path, init] of refused) {
      const response = await fetch(url + path, { headers, ...init })
      t.equal(response.status, status, path)
      isGuardedPage(t, response)
      t.match(await response.text(), new RegExp(`The id of this request is ${response.headers.get('x-request-id')}`))
    }
  },
)

t.test(
  'a client that accepts JSON and not HTML gets the refusal as JSON, also at the authorization endpoint',
  async t => {
    const { url } = await startOAuth(t)
    const refusal = async (accept: string) => {
      const response = await fetch(`${url}/authorize`, { method: 'PUT', headers: { accept } })
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
    }

    const json = await refusal('Application/JSON')

    t.match(json, { status: 405, type: 'application/json' })
    t.match(JSON.parse(json.text), { error: 'invalid_request' })
    t.match(await refusal('application/json;q=0.5, text/html'), { status: 405, type: 'text/html; charset=utf-8' })
    t.match(await refusal('*/*'), { status: 405, type: 'text/html; charset=utf-8' })
  },
)

t.test('too many sign-ins from one address get a page with Retry-After', async t => {
  const { url } = await startOAuth(t, { login: { starts: '2/1minute', users: await users() } })
  const query = authorizationQuery({ redirect_uri: callback })
  const authorize = () => fetch(`${url}/authorize?${query}`, { headers: { accept: browser }, redirect: 'manual' })
  for (let times = 0; times < 2; times++) t.match((await authorize()).headers.get('location'), /^\/interaction\//)

  const tooMany = await authorize()

  t.equal(tooMany.status, 429)
  t.match(tooMany.headers.get('retry-after'), /^[1-9]\d?$/)
  isGuardedPage(t, tooMany)
  t.notOk(tooMany.headers.get('set-cookie'))
})

t.test(
  'a used-up plan or an unreachable store gets a page with Retry-After (RFC 9126 section 2.3; checklist 99)',
  async t => {
    const redis = await startRedis(t)
    const plans = { 'default-plan': { title: 'Default Plan', rate: '1/1minute' } }
    const { url } = await startOAuth(t, { workers: 1, store: redis.url, plans })
    const authorize = (client_id: string) =>
      fetch(`${url}/authorize?client_id=${client_id}&response_type=code`, {
        headers: { accept: browser },
        redirect: 'manual',
      })
    t.equal((await authorize('app')).status, 303)

    const tooMany = await authorize('app')
    await redis.kill()
    const storeless = await fetch(`${url}/interaction/${'A'.repeat(22)}`, { headers: { accept: browser } })

    t.equal(tooMany.status, 429)
    t.match(tooMany.headers.get('retry-after'), /^[1-9]\d?$/)
    t.match(tooMany.headers.get('ratelimit'), /^"default-plan";r=0;t=[1-9]\d?$/)
    isGuardedPage(t, tooMany)
    t.match(await tooMany.text(), /Wait a moment/)
    t.equal(storeless.status, 503)
    t.equal(storeless.headers.get('retry-after'), '1')
    isGuardedPage(t, storeless)
  },
)
