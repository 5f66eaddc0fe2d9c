import { isUtf8 } from 'node:buffer'
import { decodeComponent } from '../forms/urlencoded.ts'

/** The two halves of an HTTP Basic credential. */
export interface BasicCredentials {
  readonly client_id: string
  readonly client_secret: string
}

/**
 * Parses one `Authorization` header as RFC 7617 section 2 and RFC 6749 section 2.3.1 define it: base64 of two
 * form-urlencoded texts with a colon between them. Undefined for another scheme and for a malformed header.
 */
export const parseBasic = (authorization: string): BasicCredentials | undefined => {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1]
  const text = encoded === undefined ? undefined : decodeBase64(encoded)
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 0) return undefined
  const client_id = decodeComponent(text.slice(0, colon))
  const client_secret = decodeComponent(text.slice(colon + 1))
  return client_id === undefined || client_secret === undefined ? undefined : { client_id, client_secret }
}

const decodeBase64 = (encoded: string): string | undefined => {
  const bytes = Buffer.from(encoded, 'base64')
  // Node skips invalid characters. A text that does not encode back to itself is not base64.
  return bytes.toString('base64') === encoded && isUtf8(bytes) ? bytes.toString() : undefined
}
