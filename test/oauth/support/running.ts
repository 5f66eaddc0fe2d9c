import { hashSecret } from '../../../src/oauth/secrets/secret-hash.ts'
import { Secret } from '../../../src/secret.ts'
import { findFreePort } from '../../support/free-port.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../../support/sidegate.ts'
import { createCookieJar } from './cookie-jar.ts'

export const callback = 'http://127.0.0.1:3000/callback'

/** The real program with all OAuth operations at `url`, which is its issuer; clients `app`, `server` and `spa`. */
export const startOAuth = async (
  t: Parameters<typeof startSidegate>[0],
  changes: TestConfig = {},
): Promise<RunningSidegate> => {
  const listen = `127.0.0.1:${await findFreePort()}`
  return startSidegate(t, {
    issuer: `http://${listen}`,
    listen,
    workers: 1,
    plans: { 'default-plan': { title: 'Default Plan', rate: '100000/1second' } },
    groupings: [{ name: 'OAuth', version: '1.0.0', operations }],
    clients: [
      client('app', { client_secret: 'app-secret' }),
      client('server', { client_secret: 'server-secret', introspects: 'all' }),
      client('spa', { token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] }),
    ],
    login: { users: await users() },
    ...changes,
  })
}

/** The users that may sign in. */
export const users = async (): Promise<readonly TestConfig[]> => [
  { username: 'alice', password_hash: await hashSecret(new Secret('wonderland')) },
]

export const operations = [
  { method: 'POST', path: '/token', serves: 'token' },
  { method: 'POST', path: '/par', serves: 'par' },
  { method: 'POST', path: '/introspect', serves: 'introspect' },
  { method: 'POST', path: '/revoke', serves: 'revoke' },
  { method: 'GET', path: '/authorize', serves: 'authorize' },
  { method: 'POST', path: '/authorize', serves: 'authorize' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server', serves: 'discovery', plan: 'none' },
  { method: 'GET', path: '/.well-known/jwks.json', serves: 'jwks', plan: 'none' },
]

const client = (client_id: string, more: TestConfig): TestConfig => ({
  client_id,
  client_name: client_id,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  redirect_uris: [callback],
  scope: 'read write',
  ...more,
})

/**
 * Signs alice in and allows an authorization request; resolves to the final redirect to the client.
 * @param fetch for a gateway with a certificate of the test
 */
export const signInAndAllow = async (authorizationUrl: URL, fetch = globalThis.fetch): Promise<URL> => {
  const begun = await fetch(authorizationUrl, { redirect: 'manual' })
  const page = new URL(begun.headers.get('location') ?? '', authorizationUrl)
  const jar = createCookieJar()
  jar.take(begun.headers.getSetCookie())
  const submit = async (fields: Readonly<Record<string, string>>): Promise<Response> => {
    const html = await (await fetch(page, { headers: { cookie: jar.header() } })).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const body = new URLSearchParams({ csrf, ...fields })
    const answer = await fetch(page, { method: 'POST', headers: { cookie: jar.header() }, body, redirect: 'manual' })
    jar.take(answer.headers.getSetCookie())
    return answer
  }
  await submit({ username: 'alice', password: 'wonderland' })
  const done = await submit({ decision: 'allow' })
  return new URL(done.headers.get('location') ?? '', page)
}
