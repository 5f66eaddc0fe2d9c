import type { Draft } from '../draft.ts'
import { isBroken } from '../element.ts'
import { findNearest } from '../source/did-you-mean.ts'
import type { Fault } from '../source/problem.ts'

/** A text is for a scope that somebody may ask for. */
export const checkScopes = ({ head, clients }: Draft): readonly Fault[] => {
  const texts = Object.keys(head.value.scopes)
  if (texts.length === 0) return []
  // With a client's scopes unknown, a text that is for one of them would look wrong.
  if (isBroken(head.broken, 'scopes') || clients.some(({ broken }) => isBroken(broken, 'scope'))) return []
  const registered = [...new Set(clients.flatMap(({ value }) => value.scope))]
  return texts
    .filter(scope => !registered.includes(scope))
    .map(scope => ({ path: ['scopes', scope], at: 'key', message: unregistered(findNearest(scope, registered)) }))
}

const unregistered = (nearest: string | undefined): string =>
  nearest === undefined
    ? 'no client is registered for this scope; add it to the scope of a client, or remove the text'
    : `no client is registered for this scope; did you mean ${nearest}?`
