import { createHash } from 'node:crypto'
import { randomText } from '../random-text.ts'

/** Keyed SHA-256 of a text, base64url: the store holds it in place of a secret that Sidegate generated. */
export type Digest = (text: string) => string

/** A new 128-bit id for everything that one authorization leads to: 22 characters of base64url. */
export const newGrantId = (): string => randomText(16)

/** A new secret `<grant id>.<256 random bits>`: an authorization code, a refresh token or an opaque access token. */
export const newGrantSecret = (grantId: string): string => `${grantId}.${randomText(32)}`

const grantSecretLength = 22 + 1 + 43

/** Whether an access token of this server is opaque. A JWT is always longer: its signature alone has 86 characters. */
export const isOpaque = (token: string): boolean => token.length === grantSecretLength

/** The grant id of such a secret, or undefined if the text is not one. */
export const parseGrantId = (text: string): string | undefined =>
  /^([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}$/.exec(text)?.[1]

/**
 * Binds a code to the values that its redemption must repeat: client, redirect URI (empty if the authorization
 * request sent none, RFC 6749 section 4.1.3), S256 challenge (empty if there was none, so that a verifier without a
 * challenge fails: RFC 9700 section 4.8.2), and the DPoP key (empty if the request named none, RFC 9449 section 10).
 */
export const codeProof = (client_id: string, redirect_uri: string, code_challenge: string, dpop_jkt = ''): string =>
  createHash('sha256')
    .update(JSON.stringify([client_id, redirect_uri, code_challenge, dpop_jkt]))
    .digest('base64url')

/** RFC 7636 section 4.2, S256. */
export const challengeOf = (code_verifier: string): string =>
  createHash('sha256').update(code_verifier, 'ascii').digest('base64url')
