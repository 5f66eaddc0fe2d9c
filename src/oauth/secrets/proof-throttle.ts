import type { ClientAuthFailureReason, OAuthError } from '../../errors.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { type FailureLimit, refuseWhenLimited } from '../limits.ts'

/**
 * Verifies proofs under a rate limit for each name (client_id or username) and address, and counts the proofs that
 * fail.
 */
export interface ProofThrottle {
  /**
   * Runs the check and returns what it proves. Checks of one name and address run one after another. If keys must be
   * fetched first, that happens outside the queue, so that no other check waits for it.
   * @throws OAuthError rate_limit_exceeded after too many failures; the error of `toRefusal`, and any error of
   * `check`
   */
  run<T>(caller: ThrottledCaller, check: Check<T>): MaybePromise<T>
  /** Counts a proof that turned out to be invalid later, and refuses it. */
  refuse(caller: ThrottledCaller, fault: ClientAuthFailureReason): Promise<never>
}

/** The name and address that are tried, and the error for a failed proof. */
export interface ThrottledCaller {
  readonly name: string
  readonly address: string
  /** @param client_id present if `name` is the client_id of a client */
  toRefusal(fault: ClientAuthFailureReason, client_id?: string): OAuthError
}

/** Checks a proof. @param from its address, as the limit counts it */
export type Check<T> = (from: string) => MaybePromise<ProofResult<T>>

/** The result of one check. */
export type ProofResult<T> =
  | { readonly proven: T }
  | { readonly fault: ClientAuthFailureReason }
  /** Keys must be fetched first: the proof is checked again after this promise has resolved. */
  | { readonly later: Promise<unknown> }

/** Names are counted in memory and in the store, so they are cut to this length. No client_id or username is longer. */
const maxNameLength = 256

export interface ProofThrottleDeps {
  readonly failures: FailureLimit
  /** Whether a name is the client_id of a client. */
  readonly clients: { has(name: string): boolean }
}

export const createProofThrottle = ({ failures, clients }: ProofThrottleDeps): ProofThrottle => {
  const refuse = async (caller: ThrottledCaller, fault: ClientAuthFailureReason): Promise<never> => {
    const client_id = clients.has(caller.name) ? caller.name : undefined
    refuseWhenLimited(await failures.count(caller.name.slice(0, maxNameLength), caller.address), fault, client_id)
    throw caller.toRefusal(fault, client_id)
  }
  const run = <T>(caller: ThrottledCaller, check: Check<T>): MaybePromise<T> => {
    const name = caller.name.slice(0, maxNameLength)
    const result = failures.inTurn(name, caller.address, from => {
      refuseWhenLimited(failures.blockedMs(name, caller.address))
      return mapMaybe(check(from), found => {
        if ('fault' in found) return refuse(caller, found.fault)
        if ('proven' in found) failures.proven(name, caller.address)
        return found
      })
    })
    return mapMaybe(result, found => ('proven' in found ? found.proven : found.later.then(() => run(caller, check))))
  }
  return { run, refuse }
}
