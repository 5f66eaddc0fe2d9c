import type { InteractionRecord } from '../../stores/ports/interactions.ts'
import { isRegisteredRedirect } from '../authorization/redirect-uri.ts'
import type { ClientRegistration } from '../clients/metadata.ts'
import type { OAuthDeps } from '../deps.ts'
import type { Digest } from '../opaque-token.ts'
import { type PageContext, pageContextOf } from '../pages/page.ts'
import type { OAuthRequest } from '../protocol.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'
import { createBrowserCookie } from './cookie.ts'
import type { PageSession } from './interaction-session.ts'

/** What a request to an interaction finds. */
export type BoundInteraction =
  /** The browser that it was begun in. */
  | { readonly kind: 'bound'; readonly session: PageSession }
  /** A browser with the cookie from before the sign-in: it may sign in once more, or decline. */
  | { readonly kind: 'outdated'; readonly session: PageSession }
  /** Not this browser's. */
  | { readonly kind: 'foreign' }
  /** No such interaction, or none any more. */
  | { readonly kind: 'unknown' }

export type BrowserBinding = (request: OAuthRequest) => Promise<BoundInteraction>

/** Finds the interaction of a path and checks that this browser began it. */
export const createBrowserBinding = (deps: OAuthDeps): BrowserBinding => {
  const { digest } = deps.keys
  const cookie = createBrowserCookie(deps.options.issuer)
  return async request => {
    const id = parseInteractionPath(request.path)
    const found = id === undefined ? undefined : await findInteraction(deps, id)
    if (id === undefined || !found) return { kind: 'unknown' }
    const pageContext = pageContextOf(deps.options.issuer, request, found.record.ui_locales)
    return verifyBrowser({ id, pageContext, ...found }, cookie.parse(request.cookie), digest)
  }
}

/** Another site may have planted cookies before ours or after it: the one that isBound now goes before one that did. */
const verifyBrowser = (
  found: Found & { readonly id: string; readonly pageContext: PageContext },
  secrets: readonly string[],
  digest: Digest,
): BoundInteraction => {
  const { id, record } = found
  const isBound = (secret: string): boolean => timingSafeEqualText(digest(secret), record.browserDigest)
  const csrfOf = (secret: string): string => digest(`csrf\0${id}\0${secret}`)
  const current = secrets.find(isBound)
  if (current !== undefined) return { kind: 'bound', session: { ...found, secret: current, csrf: csrfOf(current) } }
  for (const secret of secrets) {
    const renewed = renewSecret(id, secret, digest)
    if (isBound(renewed)) return { kind: 'outdated', session: { ...found, secret: renewed, csrf: csrfOf(secret) } }
  }
  return { kind: 'foreign' }
}

/** The id in `/interaction/<id>`, or undefined. */
const parseInteractionPath = (path: string): string | undefined =>
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
