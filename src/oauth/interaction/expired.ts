import { seeOther, toErrorRedirect } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { pageContextOf } from '../pages/page.ts'
import { expiredPage } from '../pages/terminal-pages.ts'
import type { OAuthReply, OAuthRequest } from '../protocol.ts'
import { createReturnCookie } from './return-cookie.ts'

/**
 * The response after an interaction has expired: a redirect to the client with an error, or a page without a
 * redirect.
 */
export type Expired = (request: OAuthRequest) => OAuthReply

export const createExpired = (deps: OAuthDeps): Expired => {
  const { issuer } = deps.options
  const returnCookie = createReturnCookie(deps)
  return request => {
    const id = /^\/interaction\/([A-Za-z0-9_-]{22})(?:\/resume)?$/.exec(request.path)?.[1]
    const address = id === undefined ? undefined : returnCookie.verify(id, request.cookie)
    if (id === undefined || !address) return expiredPage(pageContextOf(issuer, request))
    const redirect = toErrorRedirect(address, 'access_denied', 'The sign-in was not finished in time.', issuer)
    return {
      ...seeOther(redirect, { 'set-cookie': returnCookie.toClearCookie(id) }),
      facts: { client_id: address.client_id, error: 'access_denied', interaction: 'expired' },
    }
  }
}
