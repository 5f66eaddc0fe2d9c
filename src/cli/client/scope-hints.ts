import type { SidegateConfig } from '../../config/load.ts'
import { findNearest } from '../../config/source/did-you-mean.ts'
import { type ListedClient, listClients } from './list.ts'
import { quoted } from './store.ts'

/**
 * Possibly misspelt scopes of a new client: scopes that no operation requires and no other client has, a sentence for
 * each. They are not errors, because an upstream may know them.
 * @throws Error as `listClients` does
 */
export const findScopeNotes = async (config: SidegateConfig, scopes: readonly string[]): Promise<readonly string[]> => {
  const published = [
    ...namedAnywhere,
    ...config.operations.flatMap(({ scopes }) => scopes),
    ...config.oauth.scopeTexts.keys(),
  ]
  if (scopes.every(scope => published.includes(scope))) return []
  const known = [...new Set([...published, ...(await listClients(config)).flatMap(scopesOf)])]
  return scopes
    .filter(scope => !known.includes(scope))
    .map(scope => {
      const nearest = findNearest(scope, known)
      const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`
      return `no operation and no other client uses the scope ${quoted(scope)}${guess}`
    })
}

/** A client requests it to get a refresh token; no operation requires it. */
const namedAnywhere = ['offline_access']

const scopesOf = ({ scope }: ListedClient): readonly string[] => scope?.split(' ').filter(Boolean) ?? []
