import type { Clock } from '../../clock.ts'
import type { Store } from '../../stores/ports/store.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { createGenerationalCache } from '../generational-cache.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import { isOpaque, parseGrantId } from '../opaque-token.ts'
import { type AccessTokens, isUnexpired } from './access-token.ts'
import type { RevocationFeed } from './revocation-feed.ts'

/**
 * The record of an access token that was presented to the gateway, or undefined unless this server issued it and it
 * is neither expired nor revoked.
 * @param ageMs how old a cached look-up of an opaque token may be. Default 1000
 */
export type VerifyAccessToken = (token: string, ageMs?: number) => MaybePromise<AccessTokenRecord | undefined>

/** The specified maximum delay of a revocation. */
const lookupAgeMs = 1000
const maxLookups = 5_000

interface Lookup {
  readonly record: MaybePromise<AccessTokenRecord | undefined>
  /** By the monotonic clock, so that a clock that is set back does not make the look-up younger. */
  readonly atMs: number
}

export interface VerifyAccessTokenDeps {
  readonly store: Pick<Store, 'tokens'>
  readonly keys: Pick<KeyRing, 'digest'>
  readonly revocations: Pick<RevocationFeed, 'isRevoked' | 'starting'>
  readonly clock: Clock
}

/**
 * JWTs are checked against the feed of revocations, without the store, so they are still accepted while the store is
 * unavailable. Opaque tokens are looked up at most once a second each, which throws StoreUnavailableError without the
 * store.
 */
export const createVerifyAccessToken = (
  { store, keys, revocations, clock }: VerifyAccessTokenDeps,
  accessTokens: AccessTokens,
): VerifyAccessToken => {
  const lookups = createGenerationalCache<Lookup>(maxLookups)

  const unlessRevoked = (record: AccessTokenRecord | undefined): AccessTokenRecord | undefined =>
    record && !revocations.isRevoked(record) ? record : undefined
  const checkJwt = (token: string): MaybePromise<AccessTokenRecord | undefined> =>
    mapMaybe(accessTokens.readJwt(token), unlessRevoked)
  const lookUp = async (grantId: string, token: string, atMs: number): Promise<AccessTokenRecord | undefined> => {
    try {
      const record = await store.tokens.find(grantId, keys.digest(token))
      lookups.set(token, { record, atMs })
      return record
    } catch (error) {
      lookups.delete(token)
      throw error
    }
  }
  const checkOpaque = (token: string, ageMs: number): MaybePromise<AccessTokenRecord | undefined> => {
    const grantId = parseGrantId(token)
    if (grantId === undefined) return undefined
    const atMs = clock.monotonicMs()
    const known = lookups.get(token)
    if (known && atMs - known.atMs < ageMs) return mapMaybe(stillAlive(known.record, clock.nowMs()), unlessRevoked)
    // Requests that arrive during a look-up wait for its result.
    const record = lookUp(grantId, token, atMs)
    lookups.set(token, { record, atMs })
    return record.then(unlessRevoked)
  }
  const check: VerifyAccessToken = (token, ageMs = lookupAgeMs) =>
    isOpaque(token) ? checkOpaque(token, ageMs) : checkJwt(token)

  // A process that has just started does not know the earlier revocations yet.
  return (token, ageMs) => revocations.starting?.then(() => check(token, ageMs)) ?? check(token, ageMs)
}

const stillAlive = (record: Lookup['record'], nowMs: number): MaybePromise<AccessTokenRecord | undefined> =>
  record instanceof Promise || (record && isUnexpired(record, nowMs)) ? record : undefined
