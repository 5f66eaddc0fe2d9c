export interface PushedRequestStore {
  /**
   * @param limit how many requests of unproven clients there may be: the oldest beyond it are removed. Left out: any number.
   * @returns how many were removed
   */
  create(id: string, request: PushedRequest, untilMs: number, limit?: number): Promise<number>
  /** The request, unless it has expired or an interaction has completed it. */
  find(id: string): Promise<PushedRequest | undefined>
  /**
   * Ends the request on behalf of one interaction, atomically, and remembers which until `untilMs`: true for the first
   * interaction that asks, however often; false for every other (RFC 9126 section 7.3). Works after the request expired:
   * whoever began in time may take their time.
   */
  complete(id: string, interactionId: string, untilMs: number): Promise<boolean>
}

/** A pushed authorization request (RFC 9126): its parameters, checked when they came. JSON-serialisable. */
export interface PushedRequest {
  readonly client_id: string
  /** Present where the client has proven nothing. */
  readonly isUnproven?: true
  readonly parameters: Readonly<Record<string, string | readonly string[]>>
}
