import type { SidegateConfig } from '../../config/load.ts'
import { findNearest } from '../../config/source/did-you-mean.ts'
import { type ListedClient, listClients } from './list.ts'
import { quoted } from './store.ts'

/**
 * What may be misspelt in the scopes of a new client: those that no operation wants and no other client has, a sentence for
 * each. They are no fault: an upstream may know them.
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
      return `no operation and no other client names the scope ${quoted(scope)}${guess}`
    })
}

/** It is asked for with a refresh token in mind, and wanted by no operation. */
const namedAnywhere = ['offline_access']

const scopesOf = ({ scope }: ListedClient): readonly string[] => scope?.split(' ').filter(Boolean) ?? []
