/** Things that may be used once: the `jti` of client assertions, DPoP proofs, request objects and internal calls. */
export interface ReplayStore {
  /**
   * Stores each id until its time, and returns for each whether it is new. Of any number of callers with one id exactly
   * one gets true. All in one round trip. New ids are spent even if others of the call are not new. An id whose time
   * has passed is not new, because it may have been spent before. Redis decides that by its own clock, whatever the
   * callers' clocks are.
   */
  spend(ids: readonly { readonly id: string; readonly untilMs: number }[]): Promise<readonly boolean[]>
}
