import { X509Certificate } from 'node:crypto'

/**
 * The header fields in which proxies that terminate TLS forward a client's certificate. The caller has checked that the
 * sender is such a proxy.
 */

/**
 * RFC 9440 section 2.2: the DER bytes as a structured-field byte sequence. Undefined if the field is anything else, or
 * repeated.
 */
export const parseClientCert = (field: string): X509Certificate | undefined => {
  const base64 = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(field.trim())?.[1]
  if (base64 === undefined) return undefined
  const der = Buffer.from(base64, 'base64')
  const certificate = toCertificate(der)
  return certificate?.raw.equals(der) ? certificate : undefined
}

/**
 * Envoy's X-Forwarded-Client-Cert: an element for each proxy, the nearest last, in which `Cert` is a URL-encoded PEM
 * text. Undefined if the element of the nearest proxy has no `Cert`, or the field cannot be parsed.
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

/** Splits at separators outside quotes. Undefined if the quotes do not match. */
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
