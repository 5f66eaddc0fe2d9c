/** Things that may be used once: the `jti` of client assertions, DPoP proofs, request objects and internal calls. */
export interface ReplayStore {
  /**
   * Remembers each id until its instant, and says of each whether it is new; of any number of callers with one id exactly
   * one is told so. All in one round trip. Those that are new are spent, whatever the others are. An id whose instant has
   * passed is not new: it may have been spent before. A Redis decides that by its own clock, whatever the callers' clocks say.
   */
  spend(ids: readonly { readonly id: string; readonly untilMs: number }[]): Promise<readonly boolean[]>
}
