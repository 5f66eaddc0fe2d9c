/** Where the pieces of a body go. */
export interface BodySink {
  /** @param piece belongs to the sink */
  onData(piece: Buffer): void
  /** The whole body has come. */
  onEnd(): void
}

/** A request's body that comes in pieces, and can be held back. */
export interface BodySource {
  /** Whether all of it has come. */
  readonly isComplete: boolean
  /** Begins to read. Bytes that have come already go to the sink during the call. */
  read(sink: BodySink): void
  /** Stops reading until `resume`. Pieces that have been read already may still come. */
  pause(): void
  resume(): void
  /** Reads what is left of it, within the server's limits, and drops it. */
  discard(): void
  /** Finds out whether the client has reset its connection: Node reports no reset of a socket that is not read. */
  detectReset(): void
}
