import { readTlsFiles } from '../../stores/shared/tls-files.ts'
import { parseRedisAddress, type StoreUrl } from '../../stores/store-url.ts'
import type { ParsedConfig, ParsedTopLevel } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'
import { applyRules, type Rule, valueAt } from './rule.ts'

/** Checks the store against the number of workers, and the timeouts of a request against each other. */
export const checkTopLevel = ({ topLevel }: ParsedConfig): readonly Fault[] =>
  applyRules(rules, topLevel, topLevel.value)

const rules: readonly Rule<ParsedTopLevel>[] = [
  {
    reads: ['store'],
    check: ({ store }) => {
      const fault = findTlsFault(store)
      return fault === undefined ? undefined : valueAt('store', fault)
    },
  },
  {
    reads: ['requests.headerTimeout', 'requests.timeout'],
    check: ({ requests }) =>
      requests.headerTimeout > requests.timeout
        ? valueAt(['requests', 'headerTimeout'], 'is longer than requests.timeout, the time for the whole request')
        : undefined,
  },
  {
    reads: ['store', 'workers'],
    check: ({ store, workers }) =>
      store.kind === 'memory' && typeof workers === 'number' && workers > 1
        ? valueAt('workers', 'memory: is not shared between workers; set workers: 1, or store: sqlite:path')
        : undefined,
  },
]

/** A problem of the TLS files of a Redis address. */
const findTlsFault = (store: StoreUrl): string | undefined => {
  const address = store.kind === 'redis' ? parseRedisAddress(store) : undefined
  if (!address || 'problem' in address || !address.tls) return undefined
  try {
    readTlsFiles(address.tls)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
