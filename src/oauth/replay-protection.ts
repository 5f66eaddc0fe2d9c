import type { ReplayStore } from '../stores/ports/replays.ts'
import type { MaybePromise } from './functional.ts'

/** A value that a request may use only once: the `jti` of a client's assertion or of a DPoP proof. */
export interface SingleUse {
  /** Its id in the store. */
  readonly id: string
  /** How long the store keeps it: as long as it would otherwise be valid. */
  readonly untilMs: number
  /** Called if it was used before. @throws OAuthError */
  refuse(): MaybePromise<never>
}

/**
 * Runs a query of the store and, in the same round trip, the pending replay checks of the request. The result of the
 * query is returned only if no check fails. Without pending checks it just runs the query.
 * @param more checks beside those of the client's own proof
 * @throws OAuthError for a value that was used before
 */
export type StoreQuery = <T>(query: () => MaybePromise<T>, more?: readonly SingleUse[]) => MaybePromise<T>

export interface ReplayProtection {
  /**
   * Answers a request with pending replay checks. If `respond` does not query the store, or refuses the request, the
   * checks still run before the response is returned.
   */
  answer<T>(
    pendingReplayChecks: readonly SingleUse[],
    respond: (storeQuery: StoreQuery) => MaybePromise<T>,
  ): MaybePromise<T>
  /** Runs these checks without a query. @throws OAuthError of the first value that was used before */
  consume(checks: readonly SingleUse[]): Promise<void>
}

/**
 * The store executes a query even if a replay check in the same round trip fails. Its result is dropped then, so each
 * query must be harmless in that case:
 * - Looking up a token changes nothing. The revocation endpoint writes only afterwards.
 * - An opaque token, or a pushed request, is stored until it expires, but no client receives it.
 * - A code is used up without a token for a sender that has the code and its verifier: the user signs in again. A
 *   failed redemption is counted, as for any client.
 * - A refresh token that rotates is replaced for a sender that holds it and proves its key, but the sender does not
 *   receive the successor; the client gets that within the reuse window. After the window the grant ends, as it does
 *   when two parties have a token (RFC 9700 section 4.14.2). A refresh token that does not rotate stays as it is.
 *
 * The consequence of a reuse, the end of a grant, waits for the replay checks, so that a replayed proof ends nothing.
 */
export const createReplayProtection = (replays: ReplayStore): ReplayProtection => {
  const consume = async (checks: readonly SingleUse[]): Promise<void> => {
    const areNew = await replays.spend(checks)
    for (const [index, use] of checks.entries()) if (!areNew[index]) await use.refuse()
  }
  const queryWithChecks = async <T>(checks: readonly SingleUse[], query: () => MaybePromise<T>): Promise<T> => {
    // Both start in one turn of the event loop, so they are sent together.
    const [consumed, answered] = await Promise.allSettled([consume(checks), start(query)])
    if (consumed.status === 'rejected') throw consumed.reason
    if (answered.status === 'rejected') throw answered.reason
    return answered.value
  }

  const queryStore: StoreQuery = (query, checks = []) =>
    checks.length === 0 ? query() : queryWithChecks(checks, query)

  return {
    consume,
    answer: (pendingReplayChecks, respond) => {
      if (pendingReplayChecks.length === 0) return respond(queryStore)
      let pending = pendingReplayChecks
      const storeQuery: StoreQuery = (query, more = []) => {
        const checks = [...pending, ...more]
        pending = []
        return queryStore(query, checks)
      }
      return start(() => respond(storeQuery)).finally(() => storeQuery(() => undefined))
    },
  }
}

/** Starts at once. A synchronous exception becomes a rejection. */
const start = async <T>(work: () => MaybePromise<T>): Promise<T> => work()
