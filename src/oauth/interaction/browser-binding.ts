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

/** The interaction of a request, and whether this browser started it. */
export type BoundInteraction =
  /** The browser has the current cookie of the interaction. */
  | { readonly kind: 'bound'; readonly session: PageSession }
  /** The browser has the cookie from before the sign-in: the user may sign in again, or decline. */
  | { readonly kind: 'outdated'; readonly session: PageSession }
  /** Another browser started the interaction. */
  | { readonly kind: 'foreign' }
  /** The interaction does not exist, or has expired. */
  | { readonly kind: 'unknown' }

export type BrowserBinding = (request: OAuthRequest) => Promise<BoundInteraction>

/** Finds the interaction of a path and checks that this browser started it. */
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

/** Another site may have set cookies before ours or after it. The current cookie takes precedence over the old one. */
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

/** Finds an interaction. It is treated as unknown if a new configuration has removed its client or redirect URI. */
export const findInteraction = async ({ store, clients }: OAuthDeps, id: string): Promise<Found | undefined> => {
  const record = (await store.interactions.find(id))?.record
  const client = record && clients.find(record.client_id)
  return client && isRegisteredRedirect(client, record.redirect_uri) ? { client, record } : undefined
}

/**
 * The secret in the browser's cookie after the sign-in. A cookie that an attacker set or read before the sign-in is
 * useless from then on (session fixation). The secret is derived under the server's own key, so that a form sent
 * twice gets the same secret, and so that it cannot be computed from the previous one.
 */
export const renewSecret = (interactionId: string, secret: string, digest: Digest): string =>
  digest(`signed-in\0${interactionId}\0${secret}`)
