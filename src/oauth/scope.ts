import { OAuthError } from '../errors.ts'
import type { ClientRegistration } from './clients/metadata.ts'

/** Scopes: space-separated on the wire (RFC 6749 section 3.3), a list without repetitions inside. */

const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/

/** The scopes of one text, in its order. Doubled spaces and repetitions do not count. */
export const splitScope = (text: string): readonly string[] => [...new Set(text.split(' ').filter(Boolean))]

/** As the wire and the stored records write it. */
export const joinScope = (scopes: readonly string[]): string => scopes.join(' ')

/**
 * What a request asks for: its `scope` parameter, or all that the client is registered for where it sent none.
 * @throws OAuthError invalid_scope where a scope is malformed, unknown, or not registered for the client
 */
export const requestedScope = (text: string | undefined, client: ClientRegistration): readonly string[] => {
  if (text === undefined) return client.scope
  const scopes = splitScope(text)
  if (scopes.length === 0 || !scopes.every(scope => scopeToken.test(scope)))
    throw invalidScope('The scope is malformed')
  requireSubset(scopes, client.scope, 'The client is not registered for a scope that was asked for')
  return scopes
}

/** @throws OAuthError invalid_scope where `scopes` holds more than `allowed` */
const requireSubset = (scopes: readonly string[], allowed: readonly string[], description: string): void => {
  if (!scopes.every(scope => allowed.includes(scope))) throw invalidScope(description)
}

const invalidScope = (description: string): OAuthError => new OAuthError('invalid_scope', description)
