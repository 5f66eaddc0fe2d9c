import { randomBytes } from 'node:crypto'

/** A cookie of one interaction: no other page of this origin gets it, so no tab overwrites another's. */
export interface InteractionCookie {
  /** A `Set-Cookie` line that reaches this interaction's pages alone. A lifetime of 0 takes the cookie away. */
  toSetCookie(interactionId: string, value: string, lifetimeSec: number): string
  /** What the browser sent under this name; more than one value where another site planted its own. */
  parse(header: string | undefined): readonly string[]
}

/** 256 random bits. The store has their keyed digest only. */
export const newBrowserSecret = (): string => randomBytes(32).toString('base64url')

/** The cookie that ties one browser to one interaction, so that a stolen link to it is worth nothing. */
export const createBrowserCookie = (issuer: string): InteractionCookie => createCookie(issuer, 'sidegate-interaction')

/**
 * With an https issuer a cookie is `Secure` and named `__Secure-`; `__Host-` would demand `Path=/`, and then two tabs
 * would overwrite each other's (RFC 6265bis section 4.1.3).
 */
export const createCookie = (issuer: string, plainName: string): InteractionCookie => {
  const isSecure = issuer.startsWith('https:')
  const name = isSecure ? `__Secure-${plainName}` : plainName
  const attributes = `HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    toSetCookie: (interactionId, value, lifetimeSec) =>
      `${name}=${value}; Path=/interaction/${interactionId}; Max-Age=${lifetimeSec}; ${attributes}`,
    parse: (header = '') =>
      header
        .split(';')
        .map(pair => pair.trim())
        .filter(pair => pair.startsWith(`${name}=`))
        .map(pair => pair.slice(name.length + 1)),
  }
}
