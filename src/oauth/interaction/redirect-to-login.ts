import { appendToRedirect } from '../authorization/redirect-uri.ts'
import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import type { LoginOptions } from '../options.ts'
import type { OAuthReply } from '../protocol.ts'
import { createBrowserCookie } from './cookie.ts'
import { type ClientAddress, createReturnCookie } from './return-cookie.ts'

/**
 * Redirects the browser to the login of a new interaction, with the cookies that bind the interaction to this
 * browser.
 */
export type RedirectToLogin = (interactionId: string, browserSecret: string, address: ClientAddress) => OAuthReply

export const createRedirectToLogin = (deps: OAuthDeps): RedirectToLogin => {
  const { issuer, login, interactionLifetimeSec } = deps.options
  const cookie = createBrowserCookie(issuer)
  const returnCookie = createReturnCookie(deps)
  return (interactionId, browserSecret, address) => {
    const cookies = [cookie.toSetCookie(interactionId, browserSecret, interactionLifetimeSec)]
    const returnLine = returnCookie.toSetCookie(interactionId, address)
    const reply = seeOther(loginUrl(login, interactionId), {
      'set-cookie': returnLine ? [...cookies, returnLine] : cookies,
    })
    return { ...reply, facts: { client_id: address.client_id, interaction: 'started' } }
  }
}

/** The URL where the user signs in: our own page, or that of the operator's login with the id of the interaction. */
export const loginUrl = (login: LoginOptions, interactionId: string): string =>
  login.mode === 'handoff'
    ? appendToRedirect(login.url, { interaction: interactionId })
    : `/interaction/${interactionId}`
