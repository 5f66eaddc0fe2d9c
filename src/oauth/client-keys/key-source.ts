import type { Clock } from '../../clock.ts'
import { type MaybePromise, mapMaybe } from '../maybe-promise.ts'
import { type JwkSet, type PublicKey, toPublicKeys } from './public-keys.ts'
import { createRemoteKeys } from './remote-jwks.ts'

export type ClientKeys =
  | { readonly kind: 'jwks'; readonly jwks: JwkSet }
  /** Fetched when needed, with limits, and cached. */
  | { readonly kind: 'uri'; readonly uri: string }

/** Where somebody's public keys come from. */
export interface KeySource {
  /**
   * The keys as they are known; fetched first where none are, or they are too old.
   * @throws OAuthError temporarily_unavailable where none could be fetched
   */
  current(): MaybePromise<readonly PublicKey[]>
  /** Newer keys than `current` gave, asked for because none of those fits. Undefined: there are none. Never throws. */
  renewed(): MaybePromise<readonly PublicKey[] | undefined>
}

/** Each registered client's keys. */
export interface ClientKeyring {
  /** Undefined for a client that registered none. */
  find(client: { readonly keys?: ClientKeys }): KeySource | undefined
}

/** Told each time that keys could not be fetched, which is at most every 30 s for each URI. No secret is in it. */
export type KeysReport = (host: string, reason: string) => void

/** Clients with one `jwks_uri` share what is fetched from it. */
export const createClientKeyring = (clock: Clock, report: KeysReport): ClientKeyring => {
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

/** Keys that were given are read once and never change; those at a URI are fetched when they are first needed. */
export const createKeySource = (keys: ClientKeys, clock: Clock, report: KeysReport): KeySource => {
  if (keys.kind === 'uri') return createRemoteKeys(keys.uri, clock, report)
  return createFixedKeys(keys.jwks)
}

export const createFixedKeys = (jwks: JwkSet): KeySource => {
  const fixed = toPublicKeys(jwks)
  return { current: () => fixed, renewed: () => undefined }
}

/** What `find` finds among the keys at hand, else among newer ones. */
export const findAmong = <T>(
  source: KeySource,
  find: (keys: readonly PublicKey[]) => T | undefined,
): MaybePromise<T | undefined> =>
  mapMaybe(
    source.current(),
    keys => find(keys) ?? mapMaybe(source.renewed(), newer => (newer === undefined ? undefined : find(newer))),
  )
