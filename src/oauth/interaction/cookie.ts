import { randomBytes } from 'node:crypto'

/** A cookie of one interaction. Its path is that of the interaction, so no tab overwrites the cookie of another. */
export interface InteractionCookie {
  /** A `Set-Cookie` header for the pages of this interaction alone. A lifetime of 0 removes the cookie. */
  toSetCookie(interactionId: string, value: string, lifetimeSec: number): string
  /** The values that the browser sent under this name. There are several if another site has set its own. */
  parse(header: string | undefined): readonly string[]
}

/** 256 random bits. The store holds only their keyed digest. */
export const newBrowserSecret = (): string => randomBytes(32).toString('base64url')

/** The cookie that binds one browser to one interaction, so that a stolen link to the interaction is useless. */
export const createBrowserCookie = (issuer: string): InteractionCookie => createCookie(issuer, 'sidegate-interaction')

/**
 * With an https issuer a cookie is `Secure` and its name begins with `__Secure-`. The prefix `__Host-` would require
 * `Path=/`, and then two tabs would overwrite each other's cookie (RFC 6265bis section 4.1.3).
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
