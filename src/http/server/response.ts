import type { Socket } from 'node:net'
import type { InvalidMessageReason } from '../message/invalid-message.ts'
import { dateFieldLine } from './date-field.ts'
import { statusLine } from './status-line.ts'

/** The head of a response. Every byte of it was checked when it was read, or was written by Sidegate. */
export interface ResponseHead {
  readonly status: number
  /** Field lines with their CRLF, without fields that frame the body or concern the connection. */
  readonly lines: string
  /** The value of `Content-Length`; undefined: the length is not known. */
  readonly length: string | undefined
  /** Whether a Date is among the lines. */
  readonly hasDate: boolean
}

/** Receives the events of a response. */
export interface ResponseListener {
  /** The connection has closed before the response had ended. */
  onClose(): void
  /** The client reads again, after a `write` that returned false. */
  onDrain(): void
  /** The response has ended, and its last bytes were written to the socket. */
  onFinish?(): void
}

/** Why a request with a valid head is refused. */
export interface BodyRefusal {
  readonly status: number
  /** Undefined: the body took too long to arrive. */
  readonly reason: InvalidMessageReason | undefined
}

/** The parts of the connection that a response uses. */
export interface ResponseOwner {
  readonly socket: Socket
  /** The keep-alive time in seconds that the client receives. */
  readonly keepAliveSec: number
  /** The response is written. */
  onResponseEnd(): void
}

/** The facts about the request that a response uses. */
export interface ResponseRequest {
  readonly method: string
  readonly versionMinor: 0 | 1
  readonly isPersistent: boolean
  /** Whether the client waits for `100 Continue`. */
  readonly expectsContinue: boolean
}

/** Bodies up to this size are written together with the head, or with the size of their chunk, as one string. */
const joinedBytes = 8192

/**
 * Bytes of a shared body that are written to the socket at a time: a client that reads fewer within the timeout counts
 * as stalled.
 */
const sharedPieceBytes = 16_384

/** Writes one response to a connection. A handler that has begun a response ends or aborts it. */
export class Response {
  /** Whether the connection ends after this response. */
  closes: boolean
  listener: ResponseListener | undefined
  /** Set if the server itself has answered, because of the request's body. It is set before the listener is called. */
  refusal: BodyRefusal | undefined
  readonly #owner: ResponseOwner
  readonly #request: ResponseRequest
  #framing: 'nothing' | 'length' | 'chunks' | 'close' = 'nothing'
  #headersSent = false
  #isContinued = false
  #isEnded = false
  #isClosed = false
  /** The rest of a shared body. */
  #shared: Buffer | undefined
  /** Text in latin1 that has been written and not been sent. */
  #unsent = ''

  constructor(owner: ResponseOwner, request: ResponseRequest) {
    this.#owner = owner
    this.#request = request
    this.closes = !request.isPersistent
  }

  /** Whether the head has been written. */
  get headersSent(): boolean {
    return this.#headersSent
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether nothing more can be written: it has ended, or the connection has closed. */
  get isOver(): boolean {
    return this.#isEnded || this.#isClosed
  }

  /** Whether the client can tell a body that breaks off from a whole one, without a reset. */
  get isFramed(): boolean {
    return this.#framing === 'length' || this.#framing === 'chunks'
  }

  /** Sends 100 Continue to a client that waits for it (RFC 9110 section 15.2.1). */
  writeContinue(): void {
    if (!this.#request.expectsContinue || this.#isContinued || this.#headersSent || this.#isClosed) return
    this.#isContinued = true
    this.#owner.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
  }

  /** Begins the response. The head is sent with the first piece of the body, at the end, or by `flush`. */
  writeHead({ status, lines, length, hasDate }: ResponseHead): void {
    if (this.#headersSent) throw new Error('a response has one head')
    this.#headersSent = true
    // A client that got no 100 Continue may or may not send the body, so the next bytes on the connection are
    // ambiguous.
    if (this.#request.expectsContinue && !this.#isContinued) this.closes = true
    const framing = this.#frame(status, length)
    const date = hasDate ? '' : dateFieldLine()
    this.#unsent = `${statusLine(status)}${lines}${date}${this.#connectionLines()}${framing}\r\n`
  }

  /**
   * Writes a piece of the body.
   * @param piece is copied or sent at once, so that it may be overwritten after the call
   * @returns false: the client does not read more for now, and `onDrain` follows
   */
  write(piece: Buffer): boolean {
    const { socket } = this.#owner
    if (this.isOver || this.#framing === 'nothing' || piece.length === 0) return !socket.writableNeedDrain
    const begin = this.#framing === 'chunks' ? `${this.#unsent}${piece.length.toString(16)}\r\n` : this.#unsent
    const end = this.#framing === 'chunks' ? '\r\n' : ''
    this.#unsent = ''
    if (piece.length <= joinedBytes) return socket.write(`${begin}${piece.toString('latin1')}${end}`, 'latin1')
    if (begin === '') return socket.write(Buffer.from(piece))
    socket.cork()
    socket.write(begin, 'latin1')
    socket.write(Buffer.from(piece))
    if (end !== '') socket.write(end, 'latin1')
    socket.uncork()
    return !socket.writableNeedDrain
  }

  /** Ends the response. @param last of the body, in latin1 */
  end(last = ''): void {
    if (this.isOver) return
    this.#isEnded = true
    let text = this.#unsent
    if (this.#framing !== 'nothing') {
      if (this.#framing === 'chunks')
        text += last === '' ? lastChunk : `${last.length.toString(16)}\r\n${last}\r\n${lastChunk}`
      else text += last
    }
    this.#unsent = ''
    if (text !== '') this.#owner.socket.write(text, 'latin1')
    this.listener?.onFinish?.()
    this.#owner.onResponseEnd()
  }

  /** Ends the response with the last piece of its body. */
  endWith(piece: Buffer): void {
    if (piece.length <= joinedBytes) {
      this.end(piece.toString('latin1'))
      return
    }
    this.write(piece)
    this.end()
  }

  /**
   * Ends the response with a body that other responses may share. It is sent without a copy, as fast as the client
   * reads.
   * @param bytes must not change until the response is over
   */
  endShared(bytes: Buffer): void {
    this.#shared = bytes
    this.#sendShared()
  }

  /** Called by the connection when the client reads again. */
  drained(): void {
    if (this.#shared !== undefined) setImmediate(Response.#sendMore, this)
    else this.listener?.onDrain()
  }

  /** Sends the written head if nothing else follows soon: an event stream may be silent after its head. */
  flush(): void {
    if (this.#unsent === '' || this.isOver) return
    this.#owner.socket.write(this.#unsent, 'latin1')
    this.#unsent = ''
  }

  /**
   * Ends a response that cannot be completed, so that the client sees it as incomplete. The written bytes still arrive,
   * then the connection closes before the declared length or the last chunk. If neither frames the body, only a reset
   * shows the client that it is incomplete.
   */
  abort(): void {
    if (this.isOver) return
    const { socket } = this.#owner
    this.flush()
    this.#isEnded = true
    if (this.isFramed) socket.destroySoon()
    else if ('encrypted' in socket) socket.destroy()
    else socket.resetAndDestroy()
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#owner.socket.destroy()
  }

  /** Called by the connection when it has closed. */
  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isEnded) this.listener?.onClose()
  }

  /**
   * Sends a piece, and the next one in another turn of the event loop, because hundreds of clients may receive a body
   * at the same time.
   */
  #sendShared(): void {
    const { socket } = this.#owner
    const rest = this.#shared
    if (rest === undefined || this.isOver) return
    if (rest.length === 0 || this.#framing === 'nothing') {
      this.#shared = undefined
      this.end()
      return
    }
    this.flush()
    this.#shared = rest.subarray(sharedPieceBytes)
    const hasRoom = socket.write(rest.subarray(0, sharedPieceBytes))
    if (hasRoom) setImmediate(Response.#sendMore, this)
  }

  static readonly #sendMore = (response: Response): void => response.#sendShared()

  /** Chooses how the body is framed (RFC 9112 section 6). @returns the field line for it */
  #frame(status: number, length: string | undefined): string {
    const { method, versionMinor } = this.#request
    const hasBody = method !== 'HEAD' && status !== 204 && status !== 304 && status >= 200
    if (length !== undefined) {
      if (hasBody) this.#framing = 'length'
      return `Content-Length: ${length}\r\n`
    }
    if (!hasBody) return ''
    if (versionMinor === 1) {
      this.#framing = 'chunks'
      return 'Transfer-Encoding: chunked\r\n'
    }
    this.#framing = 'close'
    // The caller writes the `Connection` field after this call.
    this.closes = true
    return ''
  }

  #connectionLines(): string {
    return this.closes ? 'Connection: close\r\n' : keepAliveLines(this.#owner.keepAliveSec)
  }
}

/** RFC 9112 section 7.1, without trailers. */
const lastChunk = '0\r\n\r\n'

let keptSec = -1
let keptLines = ''

/** `Keep-Alive: timeout` announces to the client how long the connection can be used. */
const keepAliveLines = (seconds: number): string => {
  if (seconds !== keptSec) {
    keptSec = seconds
    keptLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
  }
  return keptLines
}
