import { isRegisteredRedirect } from '../authorization/redirect-uri.ts'
import type { ResponseAddress } from '../authorization/response.ts'
import type { OAuthDeps } from '../deps.ts'
import { timingSafeEqualText } from '../timing-safe-equal.ts'
import { createCookie } from './cookie.ts'

/**
 * The way back to the client, in a cookie beside the interaction's own: when the store has forgotten the interaction,
 * the person is not left before a dead end. Authenticated, not encrypted: the browser knows all of it anyway.
 */
export interface ReturnCookie {
  /** A `Set-Cookie` line; undefined where the cookie would be too long for a header that every request repeats. */
  toSetCookie(interactionId: string, address: ClientAddress): string | undefined
  /** The `Set-Cookie` line that takes it away again: who has gone back needs no way back. */
  toClearCookie(interactionId: string): string
  /** The address, where this server wrote it for this interaction and the client is still registered for it. */
  verify(interactionId: string, cookieHeader: string | undefined): ClientAddress | undefined
}

export interface ClientAddress extends ResponseAddress {
  readonly client_id: string
}

/** How long after its end an interaction still leads back to the client. */
const lifetimeAfterEndSec = 24 * 3600
/** Of name and value together: a state of 300 characters fits. */
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

/** Of a payload whose MAC was right: it is as `toPayload` wrote it. */
const fromPayload = (payload: string): ClientAddress & { readonly expSec: number } => {
  const [client_id, redirect_uri, state, expSec] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
  return { client_id, redirect_uri, expSec, ...(state !== null && { state }) }
}
