import { randomBytes } from 'node:crypto'

/** The prefix of a request_uri of a pushed authorization request (RFC 9126 section 2.2). */
const urn = 'urn:ietf:params:oauth:request_uri:'

/** 128 random bits: a request_uri must not be guessed (RFC 9126 section 7.1). */
export const newPushedId = (): string => randomBytes(16).toString('base64url')

export const toRequestUri = (pushedId: string): string => urn + pushedId

/** Whether a request_uri has the form of a pushed request. Its id may still be invalid or unknown. */
export const isPushedUri = (request_uri: string): boolean => request_uri.startsWith(urn)

/** The id of the pushed request, or undefined if this server cannot have issued it. */
export const parsePushedId = (request_uri: string): string | undefined =>
  /^[A-Za-z0-9_-]{22}$/.exec(request_uri.slice(urn.length))?.[0]
