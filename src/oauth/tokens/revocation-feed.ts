import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { GrantRecord } from '../../stores/ports/grant-record.ts'
import type { NotBefore } from '../../stores/ports/not-before.ts'
import type { Revocation } from '../../stores/ports/revocations.ts'
import type { Store } from '../../stores/ports/store.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { FeedWatch } from '../feed-watch.ts'
import { createNotBeforeList, type NotBeforeList } from './not-before-list.ts'

/** The revocations, in memory, so that a token is checked without a query of the store. At most a second old. */
export interface RevocationFeed {
  /** Whether the token is known to be revoked: by its jti, by the grant id before its first dot, or by a cutoff. */
  isRevoked(token: Pick<AccessTokenRecord, 'jti' | 'client_id' | 'sub' | 'iat'>): boolean
  /**
   * Whether a known cutoff revokes the grant. If the grant itself was revoked, the store refuses it when it is used.
   */
  isCutOff(grant: GrantRecord): boolean
  /**
   * Queries the store, and in the same round trip reads the new cutoffs: when it resolves, the two methods above know
   * all cutoffs that had been added when it was called.
   * @throws StoreUnavailableError
   */
  queryWithNotBefore<T>(query: () => Promise<T>): Promise<T>
  /**
   * Revokes a grant id or a `jti` in the store. When it resolves, this process already refuses the tokens, without
   * having read the store's feed, and the reports have been called.
   * @param untilMs the minimum, as in `RevocationStore`
   * @throws StoreUnavailableError
   */
  revoke(id: string, untilMs: number): Promise<void>
  /** Refuses an opaque token that was removed from the store, although a look-up of it may still be cached. */
  tokenRemoved(token: Pick<AccessTokenRecord, 'jti' | 'exp'>): void
  /** Refuses the tokens that another process of this machine has revoked. The store has these revocations already. */
  add(revocations: readonly Revocation[]): void
  /** Resolves after the first query of the store; then undefined. Never rejects. */
  readonly starting: Promise<void> | undefined
  /** The error of the last query of the store; undefined if it succeeded. */
  readonly failure: unknown
  close(): void
}

/** The minimum time between two sweeps, which drop expired entries and read the cutoffs from the beginning. */
const sweepEveryMs = 25_000

/** The callbacks of the feed. */
export interface RevocationReports {
  /** Called once with each cutoff that is added after the first read. */
  readonly onCutoff?: (cutoff: NotBefore) => void
  /** Called with each revocation of this process, after the store has it. */
  readonly onRevoked?: (revocation: Revocation) => void
}

/**
 * Follows the store's revocations. While the store is unavailable, the known revocations stay, and the polling
 * continues.
 */
export const createRevocationFeed = (
  store: Pick<Store, 'revocations' | 'cutoffs'>,
  watch: FeedWatch,
  clock: Clock,
  { onCutoff, onRevoked }: RevocationReports = {},
): RevocationFeed => {
  const revoked = new Map<string, number>()
  const cutoffs = createCutoffReader(store.cutoffs, onCutoff)
  let cursor: string | undefined
  let sweptAtMs = performance.now()
  let failure: unknown
  let starting: Promise<void> | undefined

  const readRevocations = async (): Promise<void> => {
    const changes = await store.revocations.since(cursor)
    add(changes.revocations)
    cursor = changes.cursor
  }
  const add = (revocations: readonly Revocation[]): void => {
    for (const { id, untilMs } of revocations) revoked.set(id, Math.max(untilMs, revoked.get(id) ?? 0))
  }
  const announce = (revocation: Revocation): void => {
    add([revocation])
    onRevoked?.(revocation)
  }
  const sweep = (): void => {
    sweptAtMs = performance.now()
    const nowMs = clock.nowMs()
    for (const [id, untilMs] of revoked) if (untilMs <= nowMs) revoked.delete(id)
    cutoffs.list.sweep(nowMs)
    cutoffs.restart()
  }

  const subscription = watch.follow(['revocations', 'cutoffs'], {
    read: async () => {
      if (performance.now() - sweptAtMs > sweepEveryMs) sweep()
      await Promise.all([readRevocations(), cutoffs.read()])
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
      cutoffs.list.covers(token, token.iat),
    // A grant without a time of beginning is older than any cutoff.
    isCutOff: grant => cutoffs.list.covers(grant, grant.beganAtSec ?? 0),
    queryWithNotBefore: query => {
      const answer = query()
      const reading = cutoffs.readSoon()
      return answer.then(known => reading.then(() => known))
    },
    revoke: async (id, untilMs) => {
      announce({ id, untilMs: await store.revocations.revoke(id, untilMs) })
    },
    tokenRemoved: ({ jti, exp }) => announce({ id: jti, untilMs: exp * 1000 }),
    add,
    get starting() {
      return starting
    },
    get failure() {
      return failure
    },
    close: subscription.close,
  }
}

interface CutoffReader {
  /** The cutoffs that were read so far. */
  readonly list: NotBeforeList
  read(): Promise<void>
  /** One read for all calls in one turn of the event loop. It starts after the last of these calls. */
  readSoon(): Promise<void>
  /** The next read begins with the first cutoff. */
  restart(): void
}

const createCutoffReader = (store: Store['cutoffs'], onCutoff: RevocationReports['onCutoff']): CutoffReader => {
  const list = createNotBeforeList()
  let cursor: string | undefined
  let hasRead = false
  let pendingRead: Promise<void> | undefined

  const read = async (): Promise<void> => {
    const changes = await store.since(cursor)
    const isFirst = !hasRead
    hasRead = true
    for (const cutoff of changes.cutoffs) if (list.add(cutoff) && !isFirst) onCutoff?.(cutoff)
    cursor = changes.cursor
  }
  return {
    list,
    read,
    readSoon() {
      if (pendingRead !== undefined) return pendingRead
      const reading = nextTurn().then(() => {
        pendingRead = undefined
        return read()
      })
      // The caller awaits it after the store has answered its query, which may have failed too.
      reading.catch(() => undefined)
      pendingRead = reading
      return reading
    },
    restart() {
      // After a failover, a Redis replica may have older cursors: a full read finds every cutoff that was missed.
      cursor = undefined
    },
  }
}

const grantOf = (jti: string): string => {
  const dot = jti.indexOf('.')
  return dot < 0 ? jti : jti.slice(0, dot)
}
