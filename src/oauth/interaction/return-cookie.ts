import { isRegisteredRedirect } from '../authorization/redirect-uri.ts'
import type { ResponseAddress } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'
import { createCookie } from './cookie.ts'

/**
 * The address of the client, in a cookie beside that of the interaction. When the interaction is no longer in the
 * store, the user can still be redirected to the client. The cookie is authenticated and not encrypted, because the
 * browser already knows everything in it.
 */
export interface ReturnCookie {
  /** A `Set-Cookie` header; undefined if the cookie would be too long for a header that every request repeats. */
  toSetCookie(interactionId: string, address: ClientAddress): string | undefined
  /** The `Set-Cookie` header that clears the cookie once the user has returned to the client. */
  toClearCookie(interactionId: string): string
  /** The address, if this server wrote it for this interaction and the client is still registered for it. */
  verify(interactionId: string, cookieHeader: string | undefined): ClientAddress | undefined
}

export interface ClientAddress extends ResponseAddress {
  readonly client_id: string
}

/** How long after its end an interaction still redirects to the client. */
const lifetimeAfterEndSec = 24 * 3600
/** The limit of name and value together. A state of 300 characters fits. */
const maxCookieBytes = 600

export const createReturnCookie = ({ options, keys, clients, clock }: OAuthDeps): ReturnCookie => {
  const cookie = createCookie(options.issuer, 'sidegate-return')
  const lifetimeSec = options.interactionLifetimeSec + lifetimeAfterEndSec
  const macOf = (interactionId: string, payload: string): string => keys.digest(`return\0${interactionId}\0${payload}`)

  return {
    toSetCookie: (interactionId, address) => {
      const payload = toPayload(address, Math.floor(clock.nowMs() / 1000) + lifetimeSec)
      const line = cookie.toSetCookie(interactionId, `${payload}.${macOf(interactionId, payload)}`, lifetimeSec)
      return line.indexOf(';') < maxCookieBytes ? line : undefined
    },
    toClearCookie: interactionId => cookie.toSetCookie(interactionId, '', 0),
    verify: (interactionId, cookieHeader) => {
      for (const value of cookie.parse(cookieHeader)) {
        const [payload = '', mac = ''] = value.split('.')
        if (!timingSafeEqualText(mac, macOf(interactionId, payload))) continue
        const { expSec, ...address } = fromPayload(payload)
        const client = clients.find(address.client_id)
        const isGood = client && isRegisteredRedirect(client, address.redirect_uri) && clock.nowMs() < expSec * 1000
        return isGood ? address : undefined
      }
      return undefined
    },
  }
}

type Payload = readonly [client_id: string, redirect_uri: string, state: string | null, expSec: number]

const toPayload = ({ client_id, redirect_uri, state }: ClientAddress, expSec: number): string => {
  const payload: Payload = [client_id, redirect_uri, state ?? null, expSec]
  return Buffer.from(JSON.stringify(payload)).toString('base64url')
}

/** Parses a payload whose MAC was verified, so `toPayload` wrote it. */
const fromPayload = (payload: string): ClientAddress & { readonly expSec: number } => {
  const [client_id, redirect_uri, state, expSec] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
  return { client_id, redirect_uri, expSec, ...(state !== null && { state }) }
}
