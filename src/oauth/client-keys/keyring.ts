import type { Clock } from '../../clock.ts'
import { type ClientKeys, createStaticKeySource, type KeySource, type ReportFetchFailure } from './key-source.ts'
import { createRemoteJwks } from './remote-jwks.ts'

/** The key source of each registered client. */
export interface ClientKeyring {
  /** Undefined for a client that registered none. */
  find(client: { readonly keys?: ClientKeys }): KeySource | undefined
}

/** Clients with the same `jwks_uri` share one key source. */
export const createClientKeyring = (clock: Clock, report: ReportFetchFailure): ClientKeyring => {
  const byUri = new Map<string, KeySource>()
  const byKeys = new WeakMap<ClientKeys, KeySource>()
  const make = (keys: ClientKeys): KeySource => {
    const source = (keys.kind === 'uri' && byUri.get(keys.uri)) || createKeySource(keys, clock, report)
    if (keys.kind === 'uri') byUri.set(keys.uri, source)
    byKeys.set(keys, source)
    return source
  }
  return { find: ({ keys }) => keys && (byKeys.get(keys) ?? make(keys)) }
}

/**
 * Keys of a registered `jwks` are parsed once and never change. Keys at a `jwks_uri` are fetched when they are first
 * needed.
 */
export const createKeySource = (keys: ClientKeys, clock: Clock, report: ReportFetchFailure): KeySource => {
  if (keys.kind === 'uri') return createRemoteJwks(keys.uri, clock, report)
  return createStaticKeySource(keys.jwks)
}
