/** A revoked token stays revoked though the lifetime of access tokens was shortened after it was issued. */

import { eventually } from '../../support/eventually.ts'
import { newCode, redeem } from '../checklist/support/browser.ts'
import { confidentialClient } from '../checklist/support/clients.ts'
import { onEachStore } from '../checklist/support/each-store.ts'
import { post } from '../support/post.ts'

const lifetime = (text: string) => ({ tokens: { accessToken: { lifetime: text } } })
const setup = () => ({ clients: [confidentialClient('app')], ...lifetime('1h') })

onEachStore('Shortened lifetime', setup, async (t, { url, beside }) => {
  const { url: shortened } = await beside(lifetime('1s'))
  const isActive = async (token: unknown, at = url): Promise<unknown> =>
    (await post(`${at}/introspect`, { token: String(token) }, 'app')).body.active
  /** Until a token that is issued now, with the short lifetime, has expired. */
  const outlastShortLifetime = async (): Promise<void> => {
    const { body } = await post(`${shortened}/token`, { grant_type: 'client_credentials' }, 'app')
    await eventually(async () => (await isActive(body.access_token)) === false)
  }

  await t.test('its refresh token is revoked', async t => {
    const { body } = await redeem(url, await newCode(url))
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    const refreshed = await post(`${shortened}/token`, refresh, 'app')
    t.equal(refreshed.body.expires_in, 1)

    t.equal((await post(`${shortened}/revoke`, { token: String(body.refresh_token) }, 'app')).status, 200)
    t.equal(await isActive(body.access_token), false)
    await outlastShortLifetime()

    // The processes that ran meanwhile may remember the revocation themselves.
    const { url: later } = await beside(lifetime('1h'))
    t.equal(await isActive(body.access_token, later), false)
  })
})
