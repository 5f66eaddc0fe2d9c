import type { ClientAuthFailureReason, OAuthError } from '../../errors.ts'
import { type MaybePromise, mapMaybe } from '../functional.ts'
import { type FailureLimit, refuseWhenLimited } from '../limits.ts'

/** Hears proofs under the name that is tried and the address that it is tried from, and counts those that are not good. */
export interface ProofThrottle {
  /**
   * What the check proves. Checks of one name and address take turns; what has to be fetched is fetched out of turn, so
   * that nobody waits for what somebody else's proof asked for.
   * @throws OAuthError rate_limit_exceeded after too many; what `caller` refuses with, and what `check` throws
   */
  run<T>(caller: ThrottledCaller, check: Check<T>): MaybePromise<T>
  /** Counts a proof that turned out not to be good, and refuses it. */
  refuse(caller: ThrottledCaller, fault: ClientAuthFailureReason): Promise<never>
}

/** Who is heard, and how they are refused. */
export interface ThrottledCaller {
  readonly name: string
  readonly address: string
  /** @param client_id where `name` is that of a client that there is */
  toRefusal(fault: ClientAuthFailureReason, client_id?: string): OAuthError
}

/** Looks at a proof. @param from the address that it came from, as failures of it are counted */
export type Check<T> = (from: string) => MaybePromise<ProofResult<T>>

/** What one look at a proof found. */
export type ProofResult<T> =
  | { readonly proven: T }
  | { readonly fault: ClientAuthFailureReason }
  /** Something has to be fetched first: the proof is looked at again when this has resolved. */
  | { readonly later: Promise<unknown> }

/** Names are counted in memory and in the store; a longer one is nobody's. */
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
