import type { InteractionRecord } from '../../stores/ports.ts'
import { isRegisteredRedirect } from '../authorize/redirect-uri.ts'
import type { OAuthDeps } from '../deps.ts'
import type { ClientRegistration } from '../options.ts'
import { settingOf } from '../pages/setting.ts'
import type { Digest } from '../tokens/code.ts'
import type { OAuthRequest } from '../wire.ts'
import { createBrowserCookie } from './cookie.ts'
import { isSame } from './same.ts'
import type { Visit } from './visit.ts'

/** What a request to an interaction finds. */
export type Entrance =
  /** The browser that it was begun in. */
  | { readonly kind: 'visit'; readonly visit: Visit }
  /** A browser with the cookie from before the sign-in: it may only sign in once more. */
  | { readonly kind: 'outdated'; readonly visit: Visit }
  /** Not this browser's. */
  | { readonly kind: 'foreign' }
  /** No such interaction, or none any more. */
  | { readonly kind: 'unknown' }

export type Door = (request: OAuthRequest) => Promise<Entrance>

/** Finds the interaction of a path and checks that this browser began it. */
export const createDoor = (deps: OAuthDeps): Door => {
  const { digest } = deps.keys
  const cookie = createBrowserCookie(deps.options.issuer)
  return async request => {
    const id = parseInteractionPath(request.path)
    const found = id === undefined ? undefined : await findInteraction(deps, id)
    if (id === undefined || !found) return { kind: 'unknown' }
    const setting = settingOf(deps.options.issuer, request, found.record.ui_locales)
    for (const secret of cookie.parse(request.cookie)) {
      if (isSame(digest(secret), found.record.browserDigest))
        return { kind: 'visit', visit: { id, secret, setting, ...found } }
      const renewed = renewSecret(id, secret, digest)
      if (isSame(digest(renewed), found.record.browserDigest)) {
        return { kind: 'outdated', visit: { id, secret: renewed, setting, ...found } }
      }
    }
    return { kind: 'foreign' }
  }
}

/** The id in `/interaction/<id>`, or undefined. */
export const parseInteractionPath = (path: string): string | undefined =>
  /^\/interaction\/([A-Za-z0-9_-]{22})$/.exec(path)?.[1]

export interface Found {
  readonly client: ClientRegistration
  readonly record: InteractionRecord
}

/** An interaction whose client may still be answered: what a new configuration took away is not redirected to. */
export const findInteraction = async ({ store, clients }: OAuthDeps, id: string): Promise<Found | undefined> => {
  const record = (await store.interactions.find(id))?.record
  const client = record && clients.find(record.client_id)
  return client && isRegisteredRedirect(client, record.redirect_uri) ? { client, record } : undefined
}

/**
 * What the browser's cookie says after the sign-in: a cookie that somebody else planted or read before opens nothing
 * from then on (session fixation). Derived under the server's own key, so that a form sent twice gets the same one, and
 * nobody can make it out of the old one.
 */
export const renewSecret = (interactionId: string, secret: string, digest: Digest): string =>
  digest(`signed-in\0${interactionId}\0${secret}`)
