import type { Socket } from 'node:net'
import { recordBodyBytes } from '../buffer-gc.ts'
import type { BodySink, BodySource } from '../message/body-source.ts'
import type { RequestWithBody } from './request.ts'

/** Receives the progress of sending. */
export interface BodyProgress {
  onProgress(): void
  onSent(): void
  /** The body is above the limit; nothing more is sent. */
  onTooLarge(): void
}

/**
 * Sends a client's body to a server, piece by piece as the server reads. Trailers are not forwarded, because their
 * content was not checked (RFC 9110 section 6.5.1 allows a proxy to drop them).
 */
export class RequestBodyWriter implements BodySink {
  readonly #socket: Socket
  readonly #source: BodySource
  readonly #isChunked: boolean
  readonly #progress: BodyProgress
  /** For a chunked body. Any other body has the length that its head declares. */
  #leftBytes: number
  #hasBegun = false
  #isSent = false
  #isStopped = false

  constructor(socket: Socket, request: RequestWithBody, progress: BodyProgress) {
    this.#socket = socket
    this.#source = request.body
    this.#isChunked = request.isChunked
    this.#leftBytes = request.maxBodyBytes
    this.#progress = progress
  }

  /** Whether the head of the request has been sent. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Whether the last byte was written to the socket. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether the server must read the written bytes before more is read from the client. */
  get isHeldUp(): boolean {
    return this.#socket.writableNeedDrain
  }

  /** Must be called regularly, because a reset of a client that is not read is not reported. */
  checkReset(): void {
    if (this.isHeldUp) this.#source.detectReset()
  }

  /** @param head of the request; it is sent together with the bytes of the body that have arrived */
  start(head: string): void {
    this.#socket.cork()
    this.#socket.write(head, 'latin1', error => {
      this.#hasBegun = !error
    })
    process.nextTick(uncork, this.#socket)
    this.#socket.on('drain', this.#onDrain)
    this.#source.read(this)
  }

  /** Reads and drops the rest of the body, so that the client's connection can be used again. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#socket.off('drain', this.#onDrain)
    if (!this.#isSent) this.#source.discard()
  }

  onData(piece: Buffer): void {
    recordBodyBytes(piece.length)
    this.#progress.onProgress()
    if (!this.#write(piece)) this.#source.pause()
  }

  #write(piece: Buffer): boolean {
    if (!this.#isChunked) return this.#socket.write(piece)
    this.#leftBytes -= piece.length
    if (this.#leftBytes < 0) {
      this.#progress.onTooLarge()
      return true
    }
    this.#socket.cork()
    this.#socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
    this.#socket.write(piece)
    const hasRoom = this.#socket.write('\r\n', 'latin1')
    process.nextTick(uncork, this.#socket)
    return hasRoom
  }

  readonly #onDrain = (): void => {
    this.#progress.onProgress()
    this.#source.resume()
  }

  onEnd(): void {
    this.#isSent = true
    if (this.#isChunked) this.#socket.write('0\r\n\r\n', 'latin1')
    this.#progress.onSent()
  }
}

const uncork = (socket: Socket): void => socket.uncork()
