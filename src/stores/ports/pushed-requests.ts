export interface PushedRequestStore {
  /**
   * @param limit how many requests of unauthenticated clients may exist: the oldest above it are removed. Left out: no
   * limit.
   * @returns how many were removed
   */
  create(id: string, request: PushedRequest, untilMs: number, limit?: number): Promise<number>
  /** The request, unless it has expired or an interaction has completed it. */
  find(id: string): Promise<PushedRequest | undefined>
  /**
   * Ends the request on behalf of one interaction, atomically, and records that until `untilMs`. True for the first
   * interaction that calls, even if it calls again; false for every other (RFC 9126 section 7.3). Works after the
   * request expired, because the user may take longer than its lifetime.
   */
  complete(id: string, interactionId: string, untilMs: number): Promise<boolean>
}

/** A pushed authorization request (RFC 9126): its parameters, checked when it was pushed. JSON-serialisable. */
export interface PushedRequest {
  readonly client_id: string
  /** Present if the client did not authenticate. */
  readonly isUnproven?: true
  readonly parameters: Readonly<Record<string, string | readonly string[]>>
}
