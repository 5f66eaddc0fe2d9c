import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { GrantRecord } from '../../stores/ports/grant-record.ts'
import type { NotBefore } from '../../stores/ports/not-before.ts'
import type { Revocation } from '../../stores/ports/revocations.ts'
import type { Store } from '../../stores/ports/store.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { FeedWatch } from '../feed-watch.ts'
import { createNotBeforeList } from './not-before-list.ts'

/** What was revoked, in memory, so that a token can be checked without asking the store. At most a second old. */
export interface RevocationFeed {
  /** Whether the token is known to be revoked: by its jti, by the grant id before its first dot, or by a cutoff. */
  isRevoked(token: Pick<AccessTokenRecord, 'jti' | 'client_id' | 'sub' | 'iat'>): boolean
  /** Whether a cutoff is known that ends the grant. That it was revoked by itself the store says when it is used. */
  isCutOff(grant: GrantRecord): boolean
  /**
   * Asks the store, and in the same round trip for the cutoffs that were added meanwhile: when it resolves, the two above
   * know of all that had been added when it was called.
   * @throws StoreUnavailableError
   */
  queryWithNotBefore<T>(query: () => Promise<T>): Promise<T>
  /**
   * Revokes a grant id or a `jti` in the store. When it resolves, this process refuses the tokens already, without having
   * read the store's feed, and the reports have been told.
   * @param untilMs as `RevocationStore` has it: at least
   * @throws StoreUnavailableError
   */
  revoke(id: string, untilMs: number): Promise<void>
  /** Refuses an opaque token that was removed from the store, though an answer of the store may still be remembered. */
  tokenRemoved(token: Pick<AccessTokenRecord, 'jti' | 'exp'>): void
  /** Refuses what another process of this machine has revoked. Its store has it already. */
  learn(revocations: readonly Revocation[]): void
  /** Resolves once the store has been asked for the first time; then undefined. Never rejects. */
  readonly starting: Promise<void> | undefined
  /** Why the store could not be asked last time, or undefined where it could. */
  readonly failure: unknown
  close(): void
}

/** How often at most what has expired is dropped, and the cutoffs are read from their beginning. */
const sweepEveryMs = 25_000

/** What the feed tells. */
export interface RevocationReports {
  /** Called once with each cutoff that is added from now on. */
  readonly onCutoff?: (cutoff: NotBefore) => void
  /** Called with each revocation that this process makes, when the store has it. */
  readonly onRevoked?: (revocation: Revocation) => void
}

/** Follows the store's revocations. While the store is away it keeps what it has, and asks on. */
export const createRevocationFeed = (
  store: Pick<Store, 'revocations' | 'cutoffs'>,
  watch: FeedWatch,
  clock: Clock,
  { onCutoff, onRevoked }: RevocationReports = {},
): RevocationFeed => {
  const revoked = new Map<string, number>()
  const cutoffs = createNotBeforeList()
  let cursor: string | undefined
  let cutoffCursor: string | undefined
  let hasRead = false
  let sweptAtMs = performance.now()
  let failure: unknown
  let starting: Promise<void> | undefined

  const readRevocations = async (): Promise<void> => {
    const news = await store.revocations.since(cursor)
    learn(news.revocations)
    cursor = news.cursor
  }
  const learn = (revocations: readonly Revocation[]): void => {
    for (const { id, untilMs } of revocations) revoked.set(id, Math.max(untilMs, revoked.get(id) ?? 0))
  }
  const announce = (revocation: Revocation): void => {
    learn([revocation])
    onRevoked?.(revocation)
  }
  const readCutoffs = async (): Promise<void> => {
    const news = await store.cutoffs.since(cutoffCursor)
    const isFirst = !hasRead
    hasRead = true
    for (const cutoff of news.cutoffs) if (cutoffs.add(cutoff) && !isFirst) onCutoff?.(cutoff)
    cutoffCursor = news.cursor
  }
  let pendingRead: Promise<void> | undefined
  /** One reading for all that ask in a turn of the event loop, when the last of them is here: it is late enough for each. */
  const readCutoffsSoon = (): Promise<void> => {
    if (pendingRead !== undefined) return pendingRead
    const reading = nextTurn().then(() => {
      pendingRead = undefined
      return readCutoffs()
    })
    // Whoever asks looks at it when the store has answered its question, which may have failed as well.
    reading.catch(() => undefined)
    pendingRead = reading
    return reading
  }
  const sweep = (): void => {
    sweptAtMs = performance.now()
    const nowMs = clock.nowMs()
    for (const [id, untilMs] of revoked) if (untilMs <= nowMs) revoked.delete(id)
    cutoffs.sweep(nowMs)
    // The places of a Redis that took over may be behind: nothing stays unseen for long.
    cutoffCursor = undefined
  }

  const subscription = watch.follow(['revocations', 'cutoffs'], {
    read: async () => {
      if (performance.now() - sweptAtMs > sweepEveryMs) sweep()
      await Promise.all([readRevocations(), readCutoffs()])
    },
    settled: error => {
      failure = error
    },
  })
  starting = subscription.first.then(() => {
    starting = undefined
  })
  return {
    isRevoked: token =>
      (revoked.size > 0 && (revoked.has(token.jti) || revoked.has(grantOf(token.jti)))) ||
      cutoffs.covers(token, token.iat),
    // A grant that does not say when it began is older than any cutoff.
    isCutOff: grant => cutoffs.covers(grant, grant.beganAtSec ?? 0),
    queryWithNotBefore: query => {
      const answer = query()
      const reading = readCutoffsSoon()
      return answer.then(known => reading.then(() => known))
    },
    revoke: async (id, untilMs) => {
      announce({ id, untilMs: await store.revocations.revoke(id, untilMs) })
    },
    tokenRemoved: ({ jti, exp }) => announce({ id: jti, untilMs: exp * 1000 }),
    learn,
    get starting() {
      return starting
    },
    get failure() {
      return failure
    },
    close: subscription.close,
  }
}

const grantOf = (jti: string): string => {
  const dot = jti.indexOf('.')
  return dot < 0 ? jti : jti.slice(0, dot)
}
