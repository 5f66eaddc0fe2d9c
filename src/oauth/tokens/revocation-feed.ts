import type { Clock } from '../../clock.ts'
import type { RevocationStore } from '../../stores/ports/revocations.ts'

/** What was revoked, in memory, so that a token can be checked without asking the store. At most a second old. */
export interface RevocationFeed {
  /** Whether the jti itself, or the grant id before its first dot, is known to be revoked. */
  isRevoked(jti: string): boolean
  /** Resolves once the store has been asked for the first time; then undefined. Never rejects. */
  readonly starting: Promise<void> | undefined
  /** Why the store could not be asked last time, or undefined where it could. */
  readonly failure: unknown
  close(): void
}

/** A revocation is known everywhere within this time and a round trip; the contract allows one second. */
const pollEveryMs = 300
/** How often what has expired is dropped, counted in polls. */
const pollsPerSweep = 100

/** Follows the store's revocations. While the store is away it keeps what it has, and asks on. */
export const createRevocationFeed = (store: RevocationStore, clock: Clock): RevocationFeed => {
  const revoked = new Map<string, number>()
  let cursor: string | undefined
  let failure: unknown
  let starting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let polls = 0
  let isClosed = false

  const poll = async (): Promise<void> => {
    try {
      const news = await store.since(cursor)
      for (const { id, untilMs } of news.revocations) revoked.set(id, Math.max(untilMs, revoked.get(id) ?? 0))
      cursor = news.cursor
      failure = undefined
    } catch (error) {
      failure = error
    }
    polls += 1
    if (polls % pollsPerSweep === 0) sweep()
    pollLater()
  }
  const pollLater = (): void => {
    if (isClosed) return
    timer = setTimeout(poll, pollEveryMs)
    timer.unref()
  }
  const sweep = (): void => {
    const nowMs = clock.nowMs()
    for (const [id, untilMs] of revoked) if (untilMs <= nowMs) revoked.delete(id)
  }

  starting = poll().then(() => {
    starting = undefined
  })
  return {
    isRevoked: jti => revoked.size > 0 && (revoked.has(jti) || revoked.has(grantOf(jti))),
    get starting() {
      return starting
    },
    get failure() {
      return failure
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

const grantOf = (jti: string): string => {
  const dot = jti.indexOf('.')
  return dot < 0 ? jti : jti.slice(0, dot)
}
