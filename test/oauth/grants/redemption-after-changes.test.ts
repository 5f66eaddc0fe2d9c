/** A code is redeemed after the operator has removed a scope, a user or a client of its grant. */
import type { Test } from 'tap'
import { authorizationQuery, enter, newCode, redeem } from '../checklist/support/browser.ts'
import { confidentialClient } from '../checklist/support/clients.ts'
import { onEachStore, type Section } from '../checklist/support/each-store.ts'
import { post, send } from '../support/post.ts'
import { users } from '../support/running.ts'

const setup = () => ({ clients: [confidentialClient('app'), confidentialClient('leaving')] })

/** Another gateway with the same store and issuer: `app` has less scope, `leaving` and alice are missing. */
const startChanged = async ({ beside }: Section, format: 'jwt' | 'opaque') => {
  const [alice] = await users()
  const tokens = { accessToken: { format } }
  const clients = [confidentialClient('app', { scope: 'read' })]
  return {
    lessScope: (await beside({ clients, tokens })).url,
    withoutAlice: (await beside({ login: { users: [{ ...alice, username: 'bob' }] }, tokens })).url,
  }
}

const testFormat = async (t: Test, section: Section, format: 'jwt' | 'opaque'): Promise<void> => {
  const { url } = section
  const { lessScope, withoutAlice } = await startChanged(section, format)

  await t.test('a withdrawn scope is not granted for an earlier code', async t => {
    const { status, body } = await redeem(lessScope, await newCode(url, { scope: 'read write' }))
    const introspected = await post(`${lessScope}/introspect`, { token: String(body.access_token) }, 'app')

    t.equal(status, 200)
    t.equal(body.scope, 'read')
    t.equal(introspected.body.scope, 'read')
  })
  await t.test('a code of a removed user is refused, and yields no refresh token', async t => {
    const code = await newCode(url)
    const refused = await redeem(withoutAlice, code)

    t.equal(refused.status, 400)
    t.same(Object.keys(refused.body), ['error', 'error_description'])
    t.equal(refused.body.error, 'invalid_grant')
    t.equal((await redeem(url, code)).status, 400, 'the code is spent')
  })
  await t.test('a code and an open sign-in of a removed client yield no token', async t => {
    const code = await newCode(url, { client_id: 'leaving' })
    const visit = await enter(url, authorizationQuery({ client_id: 'leaving' }))
    await visit.signIn()
    const page = visit.page.replace(url, lessScope)
    const shown = await send(page, { method: 'GET', type: undefined, headers: { cookie: visit.cookies() } })

    t.equal((await redeem(lessScope, code, {}, 'leaving')).body.error, 'invalid_client')
    t.equal((await redeem(lessScope, code, {}, 'app')).body.error, 'invalid_grant')
    t.equal(shown.status, 400)
    t.equal(shown.headers.get('location'), null)
  })
}

onEachStore('Redemption after changes', setup, async (t, section) => {
  for (const format of ['jwt', 'opaque'] as const) await t.test(format, t => testFormat(t, section, format))
})
