import type { ReplayStore } from '../stores/ports/replays.ts'
import type { MaybePromise } from './functional.ts'

/** What a request brings that is good once: the `jti` of a client's assertion, or of a DPoP proof. */
export interface SingleUse {
  /** Its name in the store. */
  readonly id: string
  /** How long it is remembered: as long as it would otherwise be good. */
  readonly untilMs: number
  /** Refuses whoever uses it again. @throws OAuthError */
  refuse(): MaybePromise<never>
}

/**
 * Asks the store for what the request is about, in the same round trip in which it spends what the request may use once.
 * Nothing comes of the answer until it is known that nothing was used before. Without anything to spend it just asks.
 * @param more what is to be spent beside what proved the client
 * @throws OAuthError of what was used before
 */
export type StoreQuery = <T>(query: () => MaybePromise<T>, more?: readonly SingleUse[]) => MaybePromise<T>

export interface ReplayProtection {
  /**
   * Answers a request that may use these once. An answer that is found without asking the store, a refusal as well,
   * spends them too, and before it is given.
   */
  answer<T>(pendingReplayChecks: readonly SingleUse[], respond: (ask: StoreQuery) => MaybePromise<T>): MaybePromise<T>
  /** Spends them by themselves. @throws OAuthError of the first that was used before */
  consume(checks: readonly SingleUse[]): Promise<void>
}

/**
 * What is sent together is done by the store even where a proof turns out to have been used. That must be harmless, and
 * is, for what the store answers is dropped then:
 * - Looking up a token changes nothing. What revocation does with one it does afterwards.
 * - An opaque token is kept that nobody is told, until it expires; so is a pushed request.
 * - A code is spent, and nobody gets anything for it, by whoever has it with its verifier: the person signs in again. A
 *   failed redemption is counted, as that of any other client is.
 * - A refresh token that rotates is replaced by whoever holds it with a proof of its key, and is not told the successor;
 *   the client gets that within the window. Later its grant ends, as it does once two have a token (RFC 9700 section
 *   4.14.2). One that does not rotate stays as it is.
 *
 * What follows from a reuse, the end of a grant, waits for what was spent: a proof that comes again ends nothing.
 */
export const createReplayProtection = (replays: ReplayStore): ReplayProtection => {
  const spend = async (checks: readonly SingleUse[]): Promise<void> => {
    const areNew = await replays.spend(checks)
    for (const [index, use] of checks.entries()) if (!areNew[index]) await use.refuse()
  }
  const queryWithChecks = async <T>(checks: readonly SingleUse[], query: () => MaybePromise<T>): Promise<T> => {
    // Both begin in one turn of the event loop, and so go out at once.
    const [spent, answered] = await Promise.allSettled([spend(checks), begin(query)])
    if (spent.status === 'rejected') throw spent.reason
    if (answered.status === 'rejected') throw answered.reason
    return answered.value
  }

  const queryAlone: StoreQuery = (query, checks = []) =>
    checks.length === 0 ? query() : queryWithChecks(checks, query)

  return {
    consume: spend,
    answer: (pendingReplayChecks, respond) => {
      if (pendingReplayChecks.length === 0) return respond(queryAlone)
      let pending = pendingReplayChecks
      const ask: StoreQuery = (query, more = []) => {
        const checks = [...pending, ...more]
        pending = []
        return queryAlone(query, checks)
      }
      return begin(() => respond(ask)).finally(() => ask(() => undefined))
    },
  }
}

/** Begins at once; what is thrown at once rejects, too. */
const begin = async <T>(work: () => MaybePromise<T>): Promise<T> => work()
