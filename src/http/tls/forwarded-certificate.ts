import { X509Certificate } from 'node:crypto'

/** How proxies that end TLS write down a client's certificate. Whoever calls these has made sure that it was such a proxy. */

/** RFC 9440 section 2.2: the DER bytes as a structured-field byte sequence. Undefined where it is anything else, or two. */
export const parseClientCert = (field: string): X509Certificate | undefined => {
  const base64 = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(field.trim())?.[1]
  if (base64 === undefined) return undefined
  const der = Buffer.from(base64, 'base64')
  const certificate = toCertificate(der)
  return certificate?.raw.equals(der) ? certificate : undefined
}

/**
 * Envoy's X-Forwarded-Client-Cert: an element for each proxy, the nearest last; in it `Cert`, a PEM text in URL encoding.
 * Undefined where the nearest proxy's element has none, or the field cannot be read.
 */
export const parseForwardedClientCert = (field: string): X509Certificate | undefined => {
  const nearest = splitOutsideQuotes(field, ',')?.at(-1)
  const members = nearest === undefined ? undefined : splitOutsideQuotes(nearest, ';')
  const certs = (members ?? []).flatMap(member => /^\s*cert\s*=(.*)$/is.exec(member)?.[1] ?? [])
  const [encoded] = certs
  if (encoded === undefined || certs.length > 1) return undefined
  const pem = urlDecode(unquote(encoded.trim()))
  return pem?.startsWith('-----BEGIN CERTIFICATE-----') ? toCertificate(pem) : undefined
}

/** Cuts at the separator where it does not stand between quotes; undefined where the quotes do not match. */
const splitOutsideQuotes = (text: string, separator: ',' | ';'): readonly string[] | undefined => {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (isQuoted && sign === '\\') at++
    else if (sign === '"') isQuoted = !isQuoted
    else if (sign === separator && !isQuoted) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return isQuoted ? undefined : [...parts, text.slice(start)]
}

const unquote = (text: string): string => text.replace(/^"(.*)"$/s, '$1').replace(/\\(.)/gs, '$1')

const urlDecode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const toCertificate = (text: string | Buffer): X509Certificate | undefined => {
  try {
    return new X509Certificate(text)
  } catch {
    return undefined
  }
}
