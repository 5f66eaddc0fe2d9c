import { type MaybePromise, mapMaybe } from '../functional.ts'
import { type JwkSet, type PublicKey, toPublicKeys } from './public-keys.ts'

export type ClientKeys =
  | { readonly kind: 'jwks'; readonly jwks: JwkSet }
  /** Fetched when needed, with limits, and cached. */
  | { readonly kind: 'uri'; readonly uri: string }

/** The public keys of one other party. */
export interface KeySource {
  /**
   * The known keys. They are fetched first if no keys are known yet, or if the known keys are too old.
   * @throws OAuthError temporarily_unavailable if no keys could be fetched
   */
  current(): MaybePromise<readonly PublicKey[]>
  /**
   * Fetches newer keys, because no key that `current` returned fits. Undefined: there are no newer keys. Never
   * throws.
   */
  refreshed(): MaybePromise<readonly PublicKey[] | undefined>
}

/** Called after each failed fetch, which is at most every 30 s for each URI. The arguments contain no secret. */
export type ReportFetchFailure = (host: string, reason: string) => void

export const createStaticKeySource = (jwks: JwkSet): KeySource => {
  const fixed = toPublicKeys(jwks)
  return { current: () => fixed, refreshed: () => undefined }
}

/** The result of `find` for the known keys or, if that is undefined, for newer keys. */
export const findAmong = <T>(
  source: KeySource,
  find: (keys: readonly PublicKey[]) => T | undefined,
): MaybePromise<T | undefined> =>
  mapMaybe(
    source.current(),
    keys => find(keys) ?? mapMaybe(source.refreshed(), newer => (newer === undefined ? undefined : find(newer))),
  )
