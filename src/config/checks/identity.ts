import type { ParsedConfig } from '../parse/parsed-config.ts'
import type { Fault } from '../source/diagnostic.ts'

/** Upstreams verify an identity assertion with our key set, so that must be served. */
export const checkIdentity = ({ groupings, operations, hasAllOperations }: ParsedConfig): readonly Fault[] => {
  if (!hasAllOperations || operations.some(({ value }) => value.serves === 'jwks')) return []
  return groupings
    .filter(({ value }) => value.identity !== 'headers')
    .map(({ path }) => ({
      path: [...path, 'identity'],
      at: 'value',
      message: 'needs an operation that serves jwks, so that the upstream can verify the assertion',
    }))
}
