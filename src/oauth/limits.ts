import { type ClientAuthFailureReason, OAuthError, type OAuthErrorFacts } from '../errors.ts'

/** The limits on callers that have not authenticated. The gateway implements both interfaces. */

/**
 * Limits the interactions and pushed requests that a caller without credentials may start from one address. Each
 * start occupies the store until it is finished or has expired.
 */
export interface StartLimit {
  /**
   * Counts one start. Resolves to the wait in milliseconds if there were too many, and then nothing may be stored;
   * else to 0.
   */
  take(what: 'interaction' | 'push', address: string): Promise<number>
}

/** Counts failed proofs by name (client_id or username) and address. */
export interface FailureLimit {
  /**
   * Counts one failed proof. Resolves to the wait in milliseconds if there were too many (answer 429), else to 0.
   * @param name the client_id or username that was tried
   */
  count(name: string, address: string): Promise<number>
  /** Records that this name was proven at this address: for a day, failures at other addresses do not block it here. */
  proven(name: string, address: string): void
  /** The wait in milliseconds while this name and address are blocked, else 0. Local: no call to the store. */
  blockedMs(name: string, address: string): number
  /**
   * Runs one check of a proof, from `blockedMs` to `count`, after the earlier checks of this name and address. At
   * most as many checks of one name, or of one address, run at the same time as may still fail, so that guesses that
   * are sent at once do not succeed more often than sequential guesses. A check that returns no promise does not
   * wait.
   * @param check receives the address as it is counted: for an IPv6 address its /64 prefix
   */
  inTurn<T>(name: string, address: string, check: (from: string) => T | Promise<T>): T | Promise<T>
}

/**
 * @param waitMs how long this name and address are blocked; 0: they are not
 * @param proofFault the fault of the proof that exceeded the limit, for the operator
 * @throws OAuthError rate_limit_exceeded unless `waitMs` is 0
 */
export const refuseWhenLimited = (waitMs: number, proofFault?: ClientAuthFailureReason, client_id?: string): void => {
  if (waitMs > 0) throw limited('Too many failed authentications from this address', waitMs, { proofFault, client_id })
}

/**
 * @param waitMs how long this address may start nothing more; 0: it may
 * @throws OAuthError rate_limit_exceeded unless `waitMs` is 0
 */
export const refuseWhenCrowded = (waitMs: number): void => {
  if (waitMs > 0) throw limited('Too many authorization requests from this address', waitMs)
}

const limited = (
  description: string,
  waitMs: number,
  facts: Pick<OAuthErrorFacts, 'proofFault' | 'client_id'> = {},
): OAuthError => {
  const retryAfterSec = Math.ceil(waitMs / 1000) // RFC 9110 section 10.2.3: whole seconds
  return new OAuthError('rate_limit_exceeded', description, {
    headers: { 'retry-after': String(retryAfterSec) },
    ...facts,
  })
}
