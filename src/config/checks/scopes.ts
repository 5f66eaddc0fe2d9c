import { isInvalid } from '../parse/config-section.ts'
import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { findNearest } from '../source/did-you-mean.ts'

/** A text is for a scope that somebody may ask for: a client of the file, or one of the store for what an operation wants. */
export const checkScopes = ({ topLevel, clients, operations, hasAllOperations }: ParsedConfig): readonly Fault[] => {
  const texts = Object.keys(topLevel.value.scopes)
  if (texts.length === 0) return []
  // With the scopes of one unknown, a text that is for one of them would look wrong.
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
    ? 'no client is registered for this scope, and no operation wants it; add it to the scope of a client, or remove the text'
    : `no client is registered for this scope, and no operation wants it; did you mean ${nearest}?`
