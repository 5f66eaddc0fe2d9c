import type { Clock } from '../../clock.ts'
import { poll } from '../../poll.ts'
import type { KeyRecord, KeyStore } from '../../stores/ports/keys.ts'
import { StoreUnavailableError } from '../../stores/ports/store-unavailable.ts'
import type { MaybePromise } from '../functional.ts'
import type { Digest } from '../opaque-token.ts'
import type { OAuthOptions } from '../options.ts'
import type { SigningAlg } from '../protocol.ts'
import { findKeyChanges, type KeyChange, type KeyReading } from './key-changes.ts'
import { newestOf, readKeys } from './key-maintenance.ts'
import { type LoadedKeys, type PublicJwks, toLoadedKeys } from './loaded-keys.ts'
import { readOperatorKeys } from './operator-keys.ts'
import { keyPolicyOf, readEveryMs, successorDueAtMs } from './rotation-schedule.ts'
import type { SigningKey } from './signing-key.ts'

/**
 * The signing keys and the digest key, loaded from the store and shared by all workers. As long as the store never
 * answered there are no keys: then every method but `close` throws StoreUnavailableError.
 */
export interface KeyRing {
  /** The key to sign with now; for every algorithm that the configuration uses there is one. */
  current(alg: SigningAlg): SigningKey
  /**
   * A verification key by its kid, or undefined. One that another process has just made is read from the store, which is
   * asked for unknown ones once a second at most.
   */
  find(kid: string): MaybePromise<SigningKey | undefined>
  /** RFC 7517 public key set, those that will sign later included. */
  publicJwks(): PublicJwks
  /** HMAC-SHA-256 under the store's own digest key. */
  readonly digest: Digest
  /** Stops the renewal. */
  close(): void
}

/** Told after each reading of the store when the newest key of an algorithm is due to have a successor. */
export type ReportRotation = (alg: SigningAlg, dueAtMs: number) => void

/** What an operator may want to know of a ring. Each is told after a reading of the store. */
export interface KeyReports {
  readonly rotation?: ReportRotation
  readonly change?: (change: KeyChange) => void
}

export type KeyRingOptions = Pick<OAuthOptions, 'accessToken' | 'clients' | 'keys'>

/** While the store has not answered yet; short, because nothing can be signed until then. */
const retryEveryMs = 250
/** How often a key that nobody knows is worth a question. */
const minLookupIntervalMs = 1000

/**
 * Loads the keys, makes those that are missing, and every ten seconds renews their lifetime and does what is due in
 * their rotation. A store that does not answer is no reason to stay down: the ring opens without keys and keeps trying.
 * @throws whatever else goes wrong with the first reading, e.g. a stored key that is none
 */
export const openKeyRing = async (
  store: KeyStore,
  clock: Clock,
  options: KeyRingOptions,
  reports: KeyReports = {},
): Promise<KeyRing> => {
  const configuredPolicy = keyPolicyOf(options)
  const operatorKeys = options.keys.jwks && (await readOperatorKeys(options.keys.jwks, configuredPolicy.algorithms))
  // With keys of the operator's, the store has nothing to keep but the digest key.
  const policy = operatorKeys ? { ...configuredPolicy, algorithms: [] } : configuredPolicy
  let last: KeyReading | undefined
  let loaded: LoadedKeys | undefined
  let failure: unknown
  let reading: Promise<void> | undefined
  let lastLookupMs = Number.NEGATIVE_INFINITY

  const readOnce = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    const keys = await readKeys({ store, policy, before: last?.keys ?? [], nowMs })
    loaded = toLoadedKeys(keys, loaded, operatorKeys)
    report(keys, nowMs)
  }
  const report = (keys: readonly KeyRecord[], atMs: number): void => {
    const reading = { keys, atMs }
    for (const change of findKeyChanges(last, reading, policy)) reports.change?.(change)
    last = reading
    for (const alg of policy.algorithms) {
      const newest = newestOf(keys, alg)
      if (newest) reports.rotation?.(alg, successorDueAtMs(newest, policy))
    }
  }
  /** One reading at a time: whoever wants one meanwhile waits for it. */
  const read = (): Promise<void> => {
    reading ??= readOnce().finally(() => {
      reading = undefined
    })
    return reading
  }
  // The keys at hand stay good when a renewal fails; the next one is near, their lifetime ninety days.
  const renew = (): Promise<void> =>
    read().catch(error => {
      failure = error
    })
  const requireLoaded = (): LoadedKeys => {
    if (loaded) return loaded
    throw failure
  }
  const findNew = (kid: string): MaybePromise<SigningKey | undefined> => {
    if (!reading && clock.monotonicMs() - lastLookupMs < minLookupIntervalMs) return undefined
    if (!reading) lastLookupMs = clock.monotonicMs()
    const find = (): SigningKey | undefined => requireLoaded().byKid.get(kid)
    return read().then(find, find)
  }

  await read().catch(error => {
    if (!(error instanceof StoreUnavailableError)) throw error
    failure = error
  })
  const renewing = poll(renew, () => (loaded ? readEveryMs : retryEveryMs))
  return {
    current: alg => requireLoaded().current(alg, clock.nowMs()),
    find: kid => requireLoaded().byKid.get(kid) ?? (operatorKeys ? undefined : findNew(kid)),
    publicJwks: () => requireLoaded().jwks,
    digest: text => requireLoaded().digest(text),
    close: renewing.close,
  }
}
