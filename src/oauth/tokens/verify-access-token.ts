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
 * The record of an access token presented to the gateway, or undefined unless it is ours, alive and not revoked.
 * @param ageMs how old an answer about an opaque token may be. Default 1000
 */
export type VerifyAccessToken = (token: string, ageMs?: number) => MaybePromise<AccessTokenRecord | undefined>

/** What the contract allows for a revocation to arrive. */
const lookupAgeMs = 1000
const maxLookups = 5_000

interface Lookup {
  readonly record: MaybePromise<AccessTokenRecord | undefined>
  /** By the monotonic clock: a clock that is set back must not make the answer younger. */
  readonly atMs: number
}

export interface VerifyAccessTokenDeps {
  readonly store: Pick<Store, 'tokens'>
  readonly keys: Pick<KeyRing, 'digest'>
  readonly revocations: Pick<RevocationFeed, 'isRevoked' | 'starting'>
  readonly clock: Clock
}

/**
 * JWTs are checked without the store, against the feed of revocations; a store that is away takes nothing from them.
 * Opaque tokens are looked up at most once a second each; without the store that is a StoreUnavailableError.
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
    // Requests that come while the store is being asked wait for the same answer.
    const record = lookUp(grantId, token, atMs)
    lookups.set(token, { record, atMs })
    return record.then(unlessRevoked)
  }
  const check: VerifyAccessToken = (token, ageMs = lookupAgeMs) =>
    isOpaque(token) ? checkOpaque(token, ageMs) : checkJwt(token)

  // A process that has just started does not know yet what was revoked before.
  return (token, ageMs) => revocations.starting?.then(() => check(token, ageMs)) ?? check(token, ageMs)
}

const stillAlive = (record: Lookup['record'], nowMs: number): MaybePromise<AccessTokenRecord | undefined> =>
  record instanceof Promise || (record && isUnexpired(record, nowMs)) ? record : undefined
