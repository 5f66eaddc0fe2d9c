/** Receives the pieces of a body. */
export interface BodySink {
  /** @param piece belongs to the sink */
  onData(piece: Buffer): void
  /** The body is complete. */
  onEnd(): void
}

/** A request's body that is read in pieces and can be paused. */
export interface BodySource {
  /** Whether the whole body has been read. */
  readonly isComplete: boolean
  /** Begins to read. Bytes that have arrived already are passed to the sink during the call. */
  read(sink: BodySink): void
  /** Pauses reading until `resume`. Pieces that have been read already may still be passed on. */
  pause(): void
  resume(): void
  /** Reads the rest of the body within the server's limits and drops it. */
  discard(): void
  /** Finds out whether the client has reset its connection: Node reports no reset of a socket that is not read. */
  detectReset(): void
}
