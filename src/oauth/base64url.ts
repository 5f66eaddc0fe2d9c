import { isUtf8 } from 'node:buffer'

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * Decodes base64url without padding. Undefined for any other text: Node skips invalid characters, so the text must
 * encode back to itself.
 */
export const decodeBase64url = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

/** The JSON object that a part of a JWS encodes (RFC 7515 section 2); undefined if the part is malformed. */
export const decodeJsonObject = (part: string): JsonObject | undefined => {
  const bytes = decodeBase64url(part)
  if (!bytes || !isUtf8(bytes)) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
