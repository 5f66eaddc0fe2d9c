import type { Clock } from '../clock.ts'
import type { Store } from '../stores/ports/store.ts'
import type { KeysReport } from './client-keys/key-source.ts'
import type { ClientRegistry } from './clients/client-registry.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { OAuthOptions } from './options.ts'
import type { RevocationFeed } from './tokens/revocation-feed.ts'

/** What every file of this room may use. */
export interface OAuthDeps {
  readonly options: OAuthOptions
  readonly store: Store
  readonly clock: Clock
  readonly clients: ClientRegistry
  readonly keys: KeyRing
  /** Counts failed passwords on the login pages, over all workers. */
  readonly failures: FailureLimit
  readonly starts: StartLimit
  /** What was revoked, followed by whoever opened the store. */
  readonly revocations: RevocationFeed
  readonly reportKeysAway: KeysReport
}

/** What somebody without any proof may begin from one address: it stays in the store until it is done, or too old. */
export interface StartLimit {
  /** Counts one; the wait in milliseconds where there were too many, and then nothing is to be kept, else 0. */
  take(what: 'interaction' | 'push', address: string): Promise<number>
}

/** Failed proofs by name (client or user) and address. */
export interface FailureLimit {
  /**
   * Counts one failed proof. Resolves to the wait in milliseconds when there were too many (answer 429), else to 0.
   * @param name the client_id or username that was tried
   */
  count(name: string, address: string): Promise<number>
  /** Notes that this name was proven at this address: failures at other addresses do not refuse it here for a day. */
  proven(name: string, address: string): void
  /** The wait in milliseconds while this name and address are refused outright, else 0. Local, no store call. */
  blockedMs(name: string, address: string): number
  /**
   * Runs one check of a proof, from `blockedMs` to `count`, after those of this name and address before it. No more checks
   * of one name, or of one address, are under way than may still fail: guesses that are sent all at once get no further than
   * guesses that are sent one after another. A check that is known at once waits for nothing.
   * @param check is told the address as it is counted: of an IPv6 address the /64
   */
  inTurn<T>(name: string, address: string, check: (from: string) => T | Promise<T>): T | Promise<T>
}
