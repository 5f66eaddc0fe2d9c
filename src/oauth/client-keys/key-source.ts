import { type MaybePromise, mapMaybe } from '../functional.ts'
import { type JwkSet, type PublicKey, toPublicKeys } from './public-keys.ts'

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

/** Told each time that keys could not be fetched, which is at most every 30 s for each URI. No secret is in it. */
export type ReportFetchFailure = (host: string, reason: string) => void

export const createStaticKeySource = (jwks: JwkSet): KeySource => {
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
