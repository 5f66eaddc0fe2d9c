import { randomBytes } from 'node:crypto'
import type { RedirectTarget } from '../authorization/redirect-uri.ts'
import type { AuthorizationRequest } from '../authorization/request.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import { refuseWhenCrowded } from '../limits.ts'
import type { OAuthReply } from '../protocol.ts'
import { newBrowserSecret } from './cookie.ts'
import { createRedirectToLogin } from './redirect-to-login.ts'

/** A request with a known client and a registered redirect URI, so that the client may get the response. */
export interface RequestWithRedirect extends RedirectTarget {
  readonly client: ClientRegistration
  readonly state?: string
}

/** A valid request, and the id of the pushed request that it came from, if any. */
export interface InteractionStart extends AuthorizationRequest {
  readonly pushedId?: string
}

/**
 * Stores the interaction and redirects the browser to its page, with the cookie that binds it to this browser.
 * @param from the browser's address
 * @throws OAuthError rate_limit_exceeded if too many interactions were started from this address
 */
export type StartInteraction = (
  target: RequestWithRedirect,
  start: InteractionStart,
  from: string,
) => Promise<OAuthReply>

export const createStartInteraction = (deps: OAuthDeps): StartInteraction => {
  const { options, store, keys, clock, starts } = deps
  const redirectToLogin = createRedirectToLogin(deps)
  return async ({ client, ...address }, start, from) => {
    refuseWhenCrowded(await starts.take('interaction', from))
    const id = randomBytes(16).toString('base64url')
    const browserSecret = newBrowserSecret()
    const nowMs = clock.nowMs()
    const expiresAtMs = nowMs + options.interactionLifetimeSec * 1000
    const removed = await store.interactions.create(
      id,
      {
        client_id: client.client_id,
        ...address,
        ...start,
        browserDigest: keys.digest(browserSecret),
        stage: 'login',
        failedLogins: 0,
        beganAtSec: Math.floor(nowMs / 1000),
        expiresAtMs,
      },
      expiresAtMs,
      options.maxInteractions,
    )
    const reply = redirectToLogin(id, browserSecret, { client_id: client.client_id, ...address })
    return removed === 0
      ? reply
      : { ...reply, facts: { ...reply.facts, shed: { kind: 'interaction', count: removed } } }
  }
}
