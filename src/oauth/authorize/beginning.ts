import { randomBytes } from 'node:crypto'
import type { OAuthDeps } from '../deps.ts'
import { createInteractionCookie, newBrowserSecret } from '../interaction/cookie.ts'
import type { ClientRegistration } from '../options.ts'
import type { OAuthReply } from '../wire.ts'
import type { RedirectTarget } from './redirect-uri.ts'
import type { AuthorizationRequest } from './request.ts'
import { seeOther } from './response.ts'

/** A request whose client and redirect URI are good, so that the client itself may be answered. */
export interface Addressed extends RedirectTarget {
  readonly client: ClientRegistration
  readonly state?: string
}

/** A good request, and the pushed one that it began with, if it did. */
export interface Beginning extends AuthorizationRequest {
  readonly pushedId?: string
}

/** Stores the interaction and sends the browser to its page, with the cookie that makes it this browser's. */
export type Begin = (addressed: Addressed, beginning: Beginning) => Promise<OAuthReply>

export const createBegin = ({ options, store, keys, clock }: OAuthDeps): Begin => {
  const cookie = createInteractionCookie(options.issuer)
  const lifetimeSec = options.interactionLifetimeSec
  return async ({ client, ...address }, beginning) => {
    const id = randomBytes(16).toString('base64url')
    const browserSecret = newBrowserSecret()
    await store.interactions.create(
      id,
      {
        client_id: client.client_id,
        ...address,
        ...beginning,
        browserDigest: keys.digest(browserSecret),
        csrf: randomBytes(32).toString('base64url'),
        stage: 'login',
        failedLogins: 0,
      },
      clock.nowMs() + lifetimeSec * 1000,
    )
    const reply = seeOther(`/interaction/${id}`, { 'set-cookie': cookie.toSetCookie(id, browserSecret, lifetimeSec) })
    return { ...reply, facts: { client_id: client.client_id } }
  }
}
