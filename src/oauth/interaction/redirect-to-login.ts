import { appendToRedirect } from '../authorization/redirect-uri.ts'
import { seeOther } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import type { LoginOptions } from '../options.ts'
import type { OAuthReply } from '../protocol.ts'
import { createBrowserCookie } from './cookie.ts'
import { type ClientAddress, createReturnCookie } from './return-cookie.ts'

/** Sends the browser to the first page of a new interaction, with the cookies that make it this browser's. */
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

/** Where a person signs in: our own pages, or the operator's with the name of the interaction. */
export const loginUrl = (login: LoginOptions, interactionId: string): string =>
  login.mode === 'handoff'
    ? appendToRedirect(login.url, { interaction: interactionId })
    : `/interaction/${interactionId}`
