import type { Socket } from 'node:net'
import { recordBodyBytes } from '../../http/buffer-gc.ts'
import { detectReset } from '../../http/message/detect-reset.ts'
import { type CloseCode, closeFrame, FrameReader } from './websocket-frames.ts'

/** How long the two sides have to answer a Close of ours, in milliseconds. */
const closePatienceMs = 1000

/** One open WebSocket: forwards the bytes of both sides as they arrive, and can close it gracefully. */
export class WebSocketRelay {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #fromClient: Direction
  readonly #fromUpstream: Direction
  #isActive = true
  #silentSinceMs = 0
  #isClosing = false

  constructor(client: Socket, upstream: Socket) {
    this.#client = client
    this.#upstream = upstream
    this.#fromClient = new Direction(client, upstream, true, this.#onProgress)
    this.#fromUpstream = new Direction(upstream, client, false, this.#onProgress)
    // A peer that never closes its half would keep the other side's connection open.
    client.once('close', hadError => endWith(upstream, hadError))
    upstream.once('close', hadError => endWith(client, hadError))
  }

  /** Whether both connections are closed. */
  get isGone(): boolean {
    return this.#client.destroyed && this.#upstream.destroyed
  }

  /**
   * For how long no byte has been received or sent, as far as calls of this method can tell. Each call also detects the
   * reset of a side that is not being read.
   * @param nowMs of a monotonic clock
   */
  silentForMs(nowMs: number): number {
    this.#fromClient.detectReset()
    this.#fromUpstream.detectReset()
    if (this.#isActive) {
      this.#isActive = false
      this.#silentSinceMs = nowMs
    }
    return nowMs - this.#silentSinceMs
  }

  /**
   * Sends Close to both sides, each after the frame that is being sent to it, and closes the connections once both
   * sides have answered, or a second later. Later frames of both sides are dropped. A second call changes nothing.
   */
  close(code: CloseCode, reason: string): void {
    if (this.#isClosing) return
    this.#isClosing = true
    const timer = setTimeout(() => {
      this.#client.destroy()
      this.#upstream.destroy()
    }, closePatienceMs)
    this.#client.once('close', () => this.#upstream.destroyed && clearTimeout(timer))
    this.#upstream.once('close', () => this.#client.destroyed && clearTimeout(timer))
    this.#fromClient.close(code, reason)
    this.#fromUpstream.close(code, reason)
    this.#endIfOver()
  }

  readonly #onProgress = (): void => {
    this.#isActive = true
    if (this.#isClosing) this.#endIfOver()
  }

  #endIfOver(): void {
    if (!this.#fromClient.isOver || !this.#fromUpstream.isOver) return
    this.#client.destroySoon()
    this.#upstream.destroySoon()
  }
}

/**
 * Closes the other side after it has received the bytes that were written before. If the first side was reset and the
 * other one does not read, it is closed at once.
 */
const endWith = (other: Socket, wasReset: boolean): void => {
  if (wasReset && other.writableNeedDrain) other.destroy()
  else other.destroySoon()
}

/** The bytes of one side on their way to the other. */
class Direction {
  readonly #from: Socket
  readonly #to: Socket
  readonly #isMasked: boolean
  readonly #onProgress: () => void
  readonly #frames = new FrameReader()
  /** Our Close frame; it is sent when the current frame ends. */
  #close: Buffer | undefined
  /** Whether nothing more of this side is forwarded. */
  #isCut = false
  #hasEnded = false

  constructor(from: Socket, to: Socket, isMasked: boolean, onProgress: () => void) {
    this.#from = from
    this.#to = to
    this.#isMasked = isMasked
    this.#onProgress = onProgress
    from.on('data', this.#onData)
    from.on('end', this.#onEnd)
    to.on('drain', this.#onDrain)
    // The previous owner of the socket may have paused it.
    from.resume()
  }

  /** Whether this side has sent a Close frame or its FIN. */
  get isOver(): boolean {
    return this.#hasEnded || this.#frames.hasClosed
  }

  /** Must be called regularly, because a reset of a socket that is not read is not reported. */
  detectReset(): void {
    if (this.#to.writableNeedDrain) detectReset(this.#from)
  }

  close(code: CloseCode, reason: string): void {
    this.#close = closeFrame(code, reason, this.#isMasked)
    this.#cutBetweenFrames(this.#close)
  }

  readonly #onData = (bytes: Buffer): void => {
    recordBodyBytes(bytes.length)
    if (this.#close === undefined) {
      this.#frames.read(bytes)
      if (!this.#to.write(bytes)) this.#from.pause()
    } else {
      this.#passFrameEnd(bytes, this.#close)
    }
    this.#onProgress()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (!this.#isCut) this.#to.end()
    this.#onProgress()
  }

  readonly #onDrain = (): void => {
    this.#from.resume()
    this.#onProgress()
  }

  #passFrameEnd(bytes: Buffer, close: Buffer): void {
    const end = this.#frames.readFrameEnd(bytes)
    if (!this.#isCut && end > 0) this.#to.write(bytes.subarray(0, end))
    this.#cutBetweenFrames(close)
    this.#frames.read(bytes.subarray(end))
  }

  #cutBetweenFrames(close: Buffer): void {
    if (this.#isCut || !this.#frames.isBetweenFrames) return
    this.#isCut = true
    // No frame may follow a Close frame (RFC 6455 section 5.5.1).
    if (!this.#frames.hasClosed && this.#to.writable) this.#to.write(close)
    // The answer to our Close is read even if the other side is slow to receive earlier bytes.
    this.#from.resume()
  }
}
