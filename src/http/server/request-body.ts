import type { BodySink, BodySource } from '../message/body-source.ts'
import { ChunkedDecoder } from '../message/chunked-decoder.ts'
import type { DeclaredFraming } from '../message/framing.ts'

/** The parts of the connection that a body uses. */
export interface BodyOwner {
  /** Requests bytes. Bytes that have arrived already are passed on during the call. */
  readBody(): void
  /** Pauses the connection. */
  pauseBody(): void
  /** Reads and drops the rest, within limits. */
  discardBody(): void
  detectReset(): void
}

/** The body of one request without its framing. */
export class RequestBody implements BodySource {
  readonly #owner: BodyOwner
  readonly #decoder: ChunkedDecoder | undefined
  /** The declared length of the body; undefined: it is chunked. */
  readonly lengthBytes: number | undefined
  #leftBytes: number
  #sink: BodySink | undefined
  #isComplete = false
  #isPaused = true

  constructor(owner: BodyOwner, framing: Exclude<DeclaredFraming, { readonly by: 'nothing' }>) {
    this.#owner = owner
    this.#decoder = framing.by === 'chunks' ? new ChunkedDecoder('strict') : undefined
    this.lengthBytes = framing.by === 'length' ? framing.bytes : undefined
    this.#leftBytes = this.lengthBytes ?? 0
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Whether the reader has paused the body. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  read(sink: BodySink): void {
    this.#sink = sink
    this.resume()
  }

  pause(): void {
    if (this.#isPaused || this.#isComplete) return
    this.#isPaused = true
    this.#owner.pauseBody()
  }

  resume(): void {
    if (!this.#isPaused || this.#isComplete) return
    this.#isPaused = false
    this.#owner.readBody()
  }

  discard(): void {
    if (this.#isComplete) return
    this.#sink = undefined
    this.#owner.discardBody()
    this.resume()
  }

  detectReset(): void {
    this.#owner.detectReset()
  }

  /**
   * Called by the connection with bytes that have arrived.
   * @returns how many of them belong to this body
   * @throws InvalidMessageError if a chunk is invalid
   */
  take(bytes: Buffer): number {
    const taken = this.#decoder
      ? this.#decoder.read(bytes, 0, piece => this.#sink?.onData(piece))
      : this.#takeCounted(bytes)
    if (this.#decoder ? this.#decoder.isDone : this.#leftBytes === 0) {
      this.#isComplete = true
      this.#sink?.onEnd()
    }
    return taken
  }

  #takeCounted(bytes: Buffer): number {
    const taken = Math.min(bytes.length, this.#leftBytes)
    this.#leftBytes -= taken
    this.#sink?.onData(taken === bytes.length ? bytes : bytes.subarray(0, taken))
    return taken
  }
}
