import type { Socket } from 'node:net'
import { recordBodyBytes } from '../buffer-gc.ts'
import type { BodySink, BodySource } from '../message/body-source.ts'
import type { RequestWithBody } from './request.ts'

/** Who is told how the sending goes. */
export interface BodyProgress {
  onProgress(): void
  onSent(): void
  /** There is more of it than may be sent; nothing further is. */
  onTooLarge(): void
}

/**
 * A client's body on its way to a server, piece by piece as the server takes it. Trailers end here: what is in them has
 * not been looked at (RFC 9110 section 6.5.1 lets a proxy drop them).
 */
export class RequestBodyWriter implements BodySink {
  readonly #socket: Socket
  readonly #source: BodySource
  readonly #isChunked: boolean
  readonly #progress: BodyProgress
  /** Of a body that comes in chunks; another has no more than its head declares. */
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

  /** Whether the head before it has left. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Whether its last byte has been handed over. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether the server has to take what was sent before more is read. */
  get isHeldUp(): boolean {
    return this.#socket.writableNeedDrain
  }

  /** To be called now and then: a client that is not read goes unheard. */
  look(): void {
    if (this.isHeldUp) this.#source.detectReset()
  }

  /** @param head of the request; it leaves together with what has come of the body */
  start(head: string): void {
    this.#socket.cork()
    this.#socket.write(head, 'latin1', error => {
      this.#hasBegun = !error
    })
    process.nextTick(uncork, this.#socket)
    this.#socket.on('drain', this.#onDrain)
    this.#source.read(this)
  }

  /** What is left of the body is read and dropped, so that the client's connection can go on. */
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
