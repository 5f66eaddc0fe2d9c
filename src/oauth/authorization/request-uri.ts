import { randomBytes } from 'node:crypto'

/** How pushed authorization requests are named on the wire (RFC 9126 section 2.2). */
const urn = 'urn:ietf:params:oauth:request_uri:'

/** 128 random bits: a request_uri must not be guessed (RFC 9126 section 7.1). */
export const newPushedId = (): string => randomBytes(16).toString('base64url')

export const toRequestUri = (pushedId: string): string => urn + pushedId

/** Whether a request_uri means a pushed request at all, be it a good one or not. */
export const isPushedUri = (request_uri: string): boolean => request_uri.startsWith(urn)

/** The id, or undefined where we cannot have given it out. */
export const parsePushedId = (request_uri: string): string | undefined =>
  /^[A-Za-z0-9_-]{22}$/.exec(request_uri.slice(urn.length))?.[0]
