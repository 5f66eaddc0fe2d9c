import type { ClientStore } from './clients.ts'
import type { FeedStore } from './feeds.ts'
import type { GrantStore } from './grants.ts'
import type { InteractionStore } from './interactions.ts'
import type { KeyStore } from './keys.ts'
import type { NotBeforeStore } from './not-before.ts'
import type { PushedRequestStore } from './pushed-requests.ts'
import type { ReplayStore } from './replays.ts'
import type { RevocationStore } from './revocations.ts'
import type { SubjectStore } from './subjects.ts'
import type { TokenStore } from './tokens.ts'

/**
 * The ports of a store, one for each kind of record. Every record except a client's has a lifetime and expires in the
 * store by itself; correctness needs no clean-up job. Times are `…AtMs` (milliseconds since 1970, by the caller's
 * clock). A store never returns a record whose `untilMs` has passed.
 *
 * All state of one authorization (its code, refresh token, opaque tokens, revocations) is named by one random grant id,
 * so that Redis keeps it in one slot and each operation of its stores is one atomic step and one round trip.
 *
 * A store that cannot answer throws `StoreUnavailableError` (`store-unavailable.ts`), and nothing else. `undefined`
 * means that there is no such record.
 */
export interface Store {
  readonly name: StoreName
  /** Whether a part of the store may be unavailable while the others answer. Then only `ping` checks all of it. */
  readonly hasParts: boolean
  readonly keys: KeyStore
  readonly grants: GrantStore
  readonly tokens: TokenStore
  readonly revocations: RevocationStore
  readonly cutoffs: NotBeforeStore
  readonly interactions: InteractionStore
  readonly replays: ReplayStore
  readonly subjects: SubjectStore
  readonly pushed: PushedRequestStore
  readonly clients: ClientStore
  readonly feeds: FeedStore
  /** Resolves when the store answers; throws StoreUnavailableError otherwise. For readiness and its metric. */
  ping(): Promise<void>
  close(): Promise<void>
}

export type StoreName = 'memory' | 'sqlite' | 'redis'
