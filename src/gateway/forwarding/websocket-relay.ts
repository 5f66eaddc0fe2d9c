import type { Socket } from 'node:net'
import { recordBodyBytes } from '../../http/buffer-gc.ts'
import { detectReset } from '../../http/message/detect-reset.ts'
import { type CloseCode, closeFrame, FrameReader } from './websocket-frames.ts'

/** How long the two sides have to answer a Close of ours, in milliseconds. */
const closePatienceMs = 1000

/** One open WebSocket: passes on what the two sides say to each other as it comes, and can end it in good order. */
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
    // A peer that never closes its own half would keep the other.
    client.once('close', hadError => endWith(upstream, hadError))
    upstream.once('close', hadError => endWith(client, hadError))
  }

  /** Whether nothing is left of it. */
  get isGone(): boolean {
    return this.#client.destroyed && this.#upstream.destroyed
  }

  /**
   * For how long no byte has moved, as far as calls of this know. Calls of it also notice that a side has reset which is not
   * read at the time.
   * @param nowMs of a monotonic clock
   */
  silentForMs(nowMs: number): number {
    this.#fromClient.look()
    this.#fromUpstream.look()
    if (this.#isActive) {
      this.#isActive = false
      this.#silentSinceMs = nowMs
    }
    return nowMs - this.#silentSinceMs
  }

  /**
   * Says Close to both sides, each at the end of the frame that it is being sent, and ends the connections once both have
   * answered, or a second later. What they say from now on goes nowhere. A second call changes nothing.
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

/** What was said before still arrives, but is not waited for where who said it has reset and nobody takes it. */
const endWith = (other: Socket, wasReset: boolean): void => {
  if (wasReset && other.writableNeedDrain) other.destroy()
  else other.destroySoon()
}

/** What one side says on its way to the other. */
class Direction {
  readonly #from: Socket
  readonly #to: Socket
  readonly #isMasked: boolean
  readonly #onProgress: () => void
  readonly #frames = new FrameReader()
  /** Of ours; said where the frame under way ends. */
  #close: Buffer | undefined
  /** Whether the other side hears no more of this one. */
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
    // Whoever had it before may have stopped it.
    from.resume()
  }

  /** Whether this side has said its last: Close, or the end of its connection. */
  get isOver(): boolean {
    return this.#hasEnded || this.#frames.hasClosed
  }

  /** To be called now and then: who is not read goes unheard. */
  look(): void {
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
    // After one Close there is no other (RFC 6455 section 5.5.1).
    if (!this.#frames.hasClosed && this.#to.writable) this.#to.write(close)
    // The answer to ours is read also where the other side is slow to take what came before.
    this.#from.resume()
  }
}
