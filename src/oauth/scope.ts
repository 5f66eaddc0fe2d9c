import { OAuthError } from '../errors.ts'
import type { ClientRegistration } from './clients/metadata.ts'

/** Scopes: separated by spaces in requests (RFC 6749 section 3.3); internally a list without duplicates. */

const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/

/** The scopes of a text, in its order. Repeated spaces and duplicates are ignored. */
export const splitScope = (text: string): readonly string[] => [...new Set(text.split(' ').filter(Boolean))]

/** The text that requests, tokens and stored records contain. */
export const joinScope = (scopes: readonly string[]): string => scopes.join(' ')

/**
 * The scopes that a request asks for: its `scope` parameter or, without one, all scopes that the client is registered
 * for.
 * @throws OAuthError invalid_scope if a scope is malformed, unknown, or not registered for the client
 */
export const requestedScope = (text: string | undefined, client: ClientRegistration): readonly string[] => {
  if (text === undefined) return client.scope
  const scopes = splitScope(text)
  if (scopes.length === 0 || !scopes.every(scope => scopeToken.test(scope)))
    throw invalidScope('The scope is malformed')
  requireSubset(scopes, client.scope, 'The client is not registered for a requested scope')
  return scopes
}

/** @throws OAuthError invalid_scope if `scopes` contains a scope that `allowed` does not */
const requireSubset = (scopes: readonly string[], allowed: readonly string[], description: string): void => {
  if (!scopes.every(scope => allowed.includes(scope))) throw invalidScope(description)
}

const invalidScope = (description: string): OAuthError => new OAuthError('invalid_scope', description)
