import { isUtf8 } from 'node:buffer'

/** A strict parser of `application/x-www-form-urlencoded` (RFC 6749 appendix B): a malformed text is an error. */

/** The maximum number of pairs in one text. A request of the RFCs served here has about thirty at most. */
export const maxPairs = 100

/** Why the parser stopped before the end of a text. */
export type FormFault = 'malformed' | 'too_many'

/** A name or value is undefined if it is malformed. If the callback returns a fault, the parser stops. */
export type OnPair = (name: string | undefined, value: string | undefined) => FormFault | undefined

/** Reads the pairs in one pass and in order, repeated and empty ones too. Returns the reason if it stopped early. */
export const readPairs = (text: string, onPair: OnPair): FormFault | undefined => {
  let pairs = 0
  for (let from = skipAmpersands(text, 0); from < text.length; ) {
    if (++pairs > maxPairs) return 'too_many'
    const ampersand = text.indexOf('&', from)
    const end = ampersand < 0 ? text.length : ampersand
    const fault = readPair(text.slice(from, end), onPair)
    if (fault !== undefined) return fault
    from = skipAmpersands(text, end)
  }
  return undefined
}

const ampersandCode = 0x26

const skipAmpersands = (text: string, from: number): number => {
  let at = from
  while (text.charCodeAt(at) === ampersandCode) at++
  return at
}

const readPair = (pair: string, onPair: OnPair): FormFault | undefined => {
  const equals = pair.indexOf('=')
  return equals < 0
    ? onPair(decodeComponent(pair), '')
    : onPair(decodeComponent(pair.slice(0, equals)), decodeComponent(pair.slice(equals + 1)))
}

/**
 * One name or value; undefined if a percent-encoding is malformed or the bytes are not UTF-8. It never throws,
 * because an exception is slow.
 */
export const decodeComponent = (text: string): string | undefined => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  if (brokenEscape.test(spaced)) return undefined
  return escapedByte.test(spaced) ? decodeBytes(spaced) : decodeURIComponent(spaced)
}

const brokenEscape = /%(?![\da-f]{2})/i

/**
 * A percent-encoded byte beyond ASCII. Once malformed escapes are excluded, `decodeURIComponent` throws only if such
 * bytes are not UTF-8.
 */
const escapedByte = /%[89a-f]/i

const percentCode = 0x25

/** @param text a text whose percent-encodings are all complete */
const decodeBytes = (text: string): string | undefined => {
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === percentCode) {
      bytes[length++] = 16 * hexDigit(bytes[at + 1] as number) + hexDigit(bytes[at + 2] as number)
      at += 2
    } else {
      bytes[length++] = byte
    }
  }
  const decoded = bytes.subarray(0, length)
  return isUtf8(decoded) ? decoded.toString() : undefined
}

/** The value of a character 0-9, A-F or a-f. */
const hexDigit = (code: number): number => (code & 0xf) + (code > 0x39 ? 9 : 0)

const formEncoded = 'application/x-www-form-urlencoded'

/**
 * Whether a body of this content type is form-encoded. The media type is case-insensitive and may have parameters
 * (RFC 9110 section 8.3.1).
 */
export const isFormEncoded = (contentType: string | undefined): boolean =>
  contentType === formEncoded || contentType?.split(';', 1)[0]?.trim().toLowerCase() === formEncoded
