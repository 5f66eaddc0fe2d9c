/** The fault of an issuer and its correction, or undefined (RFC 8414 section 2, RFC 9207 section 2). */
export const issuerFault = (issuer: string): string | undefined => {
  if (!/^https?:\/\/[^/]/.test(issuer) || !URL.canParse(issuer))
    return 'must be an http or https URL, such as https://auth.example.com'
  if (/[?#]/.test(issuer)) return 'an issuer has no query and no fragment; remove it (RFC 8414 section 2)'
  if (issuer.endsWith('/')) return 'remove the trailing /; the issuer is compared byte by byte'
  const url = new URL(issuer)
  if (url.username || url.password) return 'an issuer has no user information; remove the part before the @'
  // Clients compare the issuer with the output of a URL parser, so it must be in that form.
  const spelling = url.pathname === '/' ? url.origin : url.origin + url.pathname
  return spelling === issuer ? undefined : `must be in the form that URL parsers produce: ${spelling}`
}

/** The settings that determine the issuer. */
interface IssuerSettings {
  readonly issuer?: string | undefined
  readonly listen: { readonly port: number }
  readonly tls?: unknown
}

/** The configured issuer. The default names localhost, so only clients on this machine can use it. */
export const issuerOf = ({ issuer, listen, tls }: IssuerSettings): string =>
  issuer ?? new URL(`${tls ? 'https' : 'http'}://localhost:${listen.port}`).origin
