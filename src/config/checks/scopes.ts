import { isInvalid } from '../parse/config-section.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { findNearest } from '../source/did-you-mean.ts'

/**
 * Checks that each scope with a description can be requested: by a client of the file, or by a client of the store if
 * an operation requires the scope.
 */
export const checkScopes = ({ topLevel, clients, operations, hasAllOperations }: ParsedConfig): readonly Fault[] => {
  const texts = Object.keys(topLevel.value.scopes)
  if (texts.length === 0) return []
  // If the scopes of one client are not known, a description of one of them would look wrong.
  if (
    !hasAllOperations ||
    isInvalid(topLevel.invalidPaths, 'scopes') ||
    clients.some(({ invalidPaths }) => isInvalid(invalidPaths, 'scope'))
  )
    return []
  const known = [
    ...new Set([...clients.flatMap(({ value }) => value.scope), ...operations.flatMap(({ value }) => value.scopes)]),
  ]
  return texts
    .filter(scope => !known.includes(scope))
    .map(scope => ({ path: ['scopes', scope], at: 'key', message: unknown(findNearest(scope, known)) }))
}

const unknown = (nearest: string | undefined): string =>
  nearest === undefined
    ? 'no client is registered for this scope, and no operation requires it; add it to the scope of a client, or remove the text'
    : `no client is registered for this scope, and no operation requires it; did you mean ${nearest}?`
