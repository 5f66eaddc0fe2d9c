import type { BodySink, BodySource } from '../message/body-source.ts'
import { ChunkedDecoder } from '../message/chunked-decoder.ts'
import type { DeclaredFraming } from '../message/framing.ts'

/** What a body needs of its connection. */
export interface BodyOwner {
  /** Bytes are wanted: those that have come already are to be handed over during the call. */
  readBody(): void
  /** No bytes are wanted for now. */
  pauseBody(): void
  /** What is left is read and dropped, within limits. */
  discardBody(): void
  detectReset(): void
}

/** The body of one request, taken out of its framing. */
export class RequestBody implements BodySource {
  readonly #owner: BodyOwner
  readonly #decoder: ChunkedDecoder | undefined
  /** Bytes of the body, as Content-Length says; undefined: it comes in chunks. */
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

  /** Whether the reader takes no bytes for now. */
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
   * To be called by the connection with bytes that have come.
   * @returns how many of them belong to this body
   * @throws InvalidMessageError where the chunks are broken
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
