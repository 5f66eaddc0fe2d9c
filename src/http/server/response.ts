import type { Socket } from 'node:net'
import type { InvalidMessageReason } from '../message/invalid-message.ts'
import { dateFieldLine } from './date-field.ts'
import { statusLine } from './status-line.ts'

/** The head of a response. Every byte of it was checked when it was read, or is our own. */
export interface ResponseHead {
  readonly status: number
  /** Field lines as they go out, each with its CRLF; none that frames the body or concerns the connection. */
  readonly lines: string
  /** The length of the body as `Content-Length` says it; undefined: not known. */
  readonly length: string | undefined
  /** Whether a Date is among the lines. */
  readonly hasDate: boolean
}

/** Is told what happens to a response. */
export interface ResponseListener {
  /** The connection has closed before the response had ended. */
  onClose(): void
  /** The client takes more, after a `write` that returned false. */
  onDrain(): void
  /** The response has ended, its last bytes handed to the socket. */
  onFinish?(): void
}

/** Why a request whose head was good is refused. */
export interface BodyRefusal {
  readonly status: number
  /** Undefined: it took too long to come. */
  readonly reason: InvalidMessageReason | undefined
}

/** What a response needs of its connection. */
export interface ResponseOwner {
  readonly socket: Socket
  /** Seconds for which an idle connection is kept, as the client is told. */
  readonly keepAliveSec: number
  /** The response is written. */
  onResponseEnd(): void
}

/** What a response needs to know of its request. */
export interface ResponseRequest {
  readonly method: string
  readonly versionMinor: 0 | 1
  readonly isPersistent: boolean
  /** Whether the client waits for `100 Continue`. */
  readonly expectsContinue: boolean
}

/** Bodies up to this size leave with the head, or with the size of their chunk, in one write of a string. */
const joinedBytes = 8192

/** So much of a shared body is handed to the socket at a time: a client that takes less within the timeout takes nothing. */
const sharedPieceBytes = 16_384

/** Writes one response to a connection. A handler that has begun a response ends or aborts it. */
export class Response {
  /** Whether the connection ends after this response. */
  closes: boolean
  listener: ResponseListener | undefined
  /** The server itself has answered in place of this response, because of the request's body. Set before the listener hears of it. */
  refusal: BodyRefusal | undefined
  readonly #owner: ResponseOwner
  readonly #request: ResponseRequest
  #framing: 'nothing' | 'length' | 'chunks' | 'close' = 'nothing'
  #headersSent = false
  #isContinued = false
  #isEnded = false
  #isClosed = false
  /** What is left of a body that others share. */
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

  /** Tells a client that waits for it to send its body (RFC 9110 section 15.2.1). */
  writeContinue(): void {
    if (!this.#request.expectsContinue || this.#isContinued || this.#headersSent || this.#isClosed) return
    this.#isContinued = true
    this.#owner.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
  }

  /** Begins the response. It leaves with the first piece of the body, at the end, or by `flush`. */
  writeHead({ status, lines, length, hasDate }: ResponseHead): void {
    if (this.#headersSent) throw new Error('a response has one head')
    this.#headersSent = true
    // A client that was not told to continue may or may not send the body: what comes next on the connection cannot be framed.
    if (this.#request.expectsContinue && !this.#isContinued) this.closes = true
    const framing = this.#frame(status, length)
    const date = hasDate ? '' : dateFieldLine()
    this.#unsent = `${statusLine(status)}${lines}${date}${this.#connectionLines()}${framing}\r\n`
  }

  /**
   * Writes a piece of the body.
   * @param piece is copied or sent at once, so that it may be overwritten after the call
   * @returns false: the client takes no more for now, and the listener is told when it does
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
   * Ends the response with a body that other responses may share: it is sent from where it is, as the client takes it.
   * @param bytes must not change until the response is over
   */
  endShared(bytes: Buffer): void {
    this.#shared = bytes
    this.#sendShared()
  }

  /** To be called by the connection when the client takes more. */
  drained(): void {
    if (this.#shared !== undefined) setImmediate(Response.#sendMore, this)
    else this.listener?.onDrain()
  }

  /** Sends what has been written, where nothing else will follow soon: an event stream may be silent after its head. */
  flush(): void {
    if (this.#unsent === '' || this.isOver) return
    this.#owner.socket.write(this.#unsent, 'latin1')
    this.#unsent = ''
  }

  /**
   * Ends a response that cannot be completed so that it looks incomplete: what has been written still arrives, then the connection
   * closes before the declared length or the last chunk. Where neither frames the body, only a reset shows it.
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

  /** To be called by the connection when it has closed. */
  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isEnded) this.listener?.onClose()
  }

  /** Sends a piece, and the next one in another turn of the event loop: hundreds of clients may be sent a body at the same time. */
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

  /** Chooses how the body is framed (RFC 9112 section 6). @returns the field line that says so */
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
    // The head has been put together behind this call.
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

/** Clients learn from `Keep-Alive: timeout` how long a connection is good for. */
const keepAliveLines = (seconds: number): string => {
  if (seconds !== keptSec) {
    keptSec = seconds
    keptLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
  }
  return keptLines
}
