import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { gatewayErrors } from '../../errors.ts'
import { detectReset } from '../message/detect-reset.ts'
import { InvalidMessageError } from '../message/invalid-message.ts'
import { plainAddress } from '../peer/client-ip.ts'
import { problemReply } from '../problem-details.ts'
import { writeReply } from '../reply.ts'
import { discardLimits, halfCloseGraceMs, idleGraceMs, lingerLimits, requestsPerTurn } from './connection-limits.ts'
import type { HttpServerHandlers } from './handlers.ts'
import { HeadReader } from './head-reader.ts'
import type { HttpServerOptions } from './options.ts'
import { isSameBurst, markPoll } from './poll-count.ts'
import { type Refusal, refusalOf } from './refusal.ts'
import { type BodyOwner, RequestBody } from './request-body.ts'
import type { RequestHead } from './request-parser.ts'
import { Response, type ResponseOwner } from './response.ts'
import { SendProgress } from './send-progress.ts'
import { listenTo, type SocketListener, stopListeningTo } from './socket-listeners.ts'
import type { Ticked } from './timeout-ticker.ts'

/**
 * The state of a connection. `idle`: it waits for a request, of which the first bytes may have arrived. `busy`: a
 * request is being answered. `discarding`: the request was answered, and the rest of its body is dropped. `draining`:
 * the client has yet to read the response. `closing`: it closes when all written bytes have been sent. `lingering`: as
 * in nginx's lingering_close, it has sent its FIN and drops later bytes, because a socket that is closed with unread
 * bytes resets the connection, and the client would lose the response (RFC 9112 section 9.6). `detached`: the socket
 * uses another protocol.
 */
type State = 'idle' | 'busy' | 'discarding' | 'draining' | 'closing' | 'lingering' | 'detached' | 'closed'

/** The parts of the server that a connection uses. */
export interface ConnectionServer {
  readonly options: HttpServerOptions
  readonly handlers: HttpServerHandlers
  readonly keepAliveSec: number
  /** The connection has closed, or uses another protocol. */
  onClosed(connection: Connection): void
  /** A wait has begun that is shorter than the usual tick. */
  expectSoon(): void
}

/**
 * One HTTP/1.1 connection of a client, with one request at a time: a pipelined request begins when the response before
 * it is written.
 */
export class Connection implements SocketListener, ResponseOwner, BodyOwner, Ticked {
  readonly socket: Socket
  setEntry: Ticked['setEntry']
  readonly #server: ConnectionServer
  #peer: string | undefined
  #state: State = 'idle'
  /** Bytes that have arrived and were not parsed: of an incomplete head, or after the current request. */
  #held: Buffer | undefined
  #body: RequestBody | undefined
  #response: Response | undefined
  readonly #heads: HeadReader
  readonly #sendProgress = new SendProgress()
  #startedAtMs = 0
  /** In which poll phase of the event loop bytes were read last. */
  #readMark = 0
  /** Whether `#process` or `#feed` is running, which calls `#settle` for a response that ends meanwhile. */
  #isReading = false
  #isPaused = false
  /** Whether held requests are processed in the next turn of the event loop. */
  #isScheduled = false
  /** Whether the client has sent its FIN. */
  #isHalfClosed = false
  #hasAnswered = false
  /** Whether the connection closes after the response. */
  #isRetired = false
  /** Whether invalid bytes have arrived: where the next request would begin is unknown. */
  #isGarbled = false
  /** Whether the first bytes of a head have arrived. */
  #hasBegun = false
  /** When a tick first saw the current state; 0 until then. */
  #sinceMs = 0
  /** In the states `discarding` and `lingering`: bytes dropped, and how many of them the last tick saw. */
  #droppedBytes = 0
  #droppedAtTick = 0
  #droppedAtMs = 0

  constructor(socket: Socket, server: ConnectionServer) {
    this.socket = socket
    this.#server = server
    this.#heads = new HeadReader(server.options)
    listenTo(socket, this)
  }

  get keepAliveSec(): number {
    return this.#server.keepAliveSec
  }

  /** Whether it waits for a request and no byte of it has arrived. */
  get isIdle(): boolean {
    return this.#state === 'idle' && this.#held === undefined
  }

  /** Closes the connection after the current response, or at once. */
  retire(): void {
    this.#isRetired = true
    if (this.isIdle) this.socket.destroy()
    else if (this.#response && !this.#response.headersSent) this.#response.closes = true
  }

  /** @returns whether the connection was idle and is closed now */
  closeIfIdle(): boolean {
    if (!this.isIdle || this.socket.destroyed) return false
    this.socket.destroy()
    return true
  }

  // Events of the socket.

  onData(bytes: Buffer): void {
    this.#readMark = markPoll()
    this.#take(bytes)
  }

  #take(bytes: Buffer): void {
    switch (this.#state) {
      case 'idle':
        this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
        this.#process()
        return
      case 'busy':
      case 'discarding':
        if (this.#body === undefined || this.#body.isComplete || this.#body.isPaused) this.#hold(bytes)
        else this.#feed(this.#body, bytes)
        return
      case 'draining':
        this.#hold(bytes)
        return
      default:
        this.#droppedBytes += bytes.length
    }
  }

  onEnd(): void {
    this.#isHalfClosed = true
    switch (this.#state) {
      case 'idle':
        if (!this.#isScheduled) this.#await()
        return
      case 'busy':
        // Bytes before the FIN are processed first.
        if (this.#held !== undefined) return
        if (this.#body && !this.#body.isComplete) this.socket.destroy()
        else this.#onEarlyEnd()
        return
      case 'draining':
        return
      default:
        this.socket.destroySoon()
    }
  }

  /**
   * The client has sent its FIN while it waits for the response. A FIN that arrives with the end of the request means
   * that the client sends nothing more and still reads. A later FIN nearly always means that the client has closed the
   * connection.
   */
  #onEarlyEnd(): void {
    const response = this.#response
    if (response === undefined) return
    if (!response.headersSent) response.closes = true
    this.#isRetired = true
    if (isSameBurst(this.#readMark)) return
    setTimeout(() => {
      if (this.#response === response && !response.isOver) this.socket.destroy()
    }, halfCloseGraceMs).unref()
  }

  onDrain(): void {
    if (this.#state === 'draining' && this.#isRetired) this.#close()
    else if (this.#state === 'draining') this.#next()
    else this.#response?.drained()
  }

  onClose(): void {
    const response = this.#response
    const wasDetached = this.#state === 'detached'
    this.#state = 'closed'
    this.#held = undefined
    this.#response = undefined
    this.#body = undefined
    if (!wasDetached) this.#server.onClosed(this)
    response?.closed()
  }

  // Calls of the response and the body.

  onResponseEnd(): void {
    if (!this.#isReading) this.#settle()
  }

  readBody(): void {
    const body = this.#body
    if (body === undefined || body.isComplete) return
    const held = this.#held
    if (held !== undefined) {
      this.#held = undefined
      this.#feed(body, held)
    }
    if (body.isComplete || body.isPaused || (this.#state !== 'busy' && this.#state !== 'discarding')) return
    if (!this.#isHalfClosed) this.#resume()
    // The client has sent its FIN in the middle of the body.
    else if (this.#response?.isEnded) this.socket.destroySoon()
    else this.socket.destroy()
  }

  pauseBody(): void {
    this.#pause()
  }

  discardBody(): void {
    this.#droppedBytes = 0
  }

  detectReset(): void {
    detectReset(this.socket)
  }

  /** Gives up the socket. */
  detach(): Socket {
    const { socket } = this
    this.#state = 'detached'
    stopListeningTo(socket)
    socket.pause()
    // A client that has sent its FIN cannot use the other protocol.
    if (this.#isHalfClosed) socket.destroy()
    else if (this.#held !== undefined) socket.unshift(this.#held)
    this.#held = undefined
    this.#response = undefined
    this.#server.onClosed(this)
    return socket
  }

  // The requests.

  /**
   * Begins requests one after another, while they are answered synchronously. After a number of them the others wait
   * for the next turn of the event loop.
   */
  #process(): void {
    let left = requestsPerTurn
    this.#isReading = true
    try {
      while (this.#state === 'idle' && this.#held !== undefined && left > 0 && this.#begin(this.#held)) {
        left--
        this.#settle()
      }
    } finally {
      this.#isReading = false
    }
    if (left === 0 && this.#state === 'idle' && this.#held !== undefined) {
      this.#pause()
      this.#isScheduled = true
      setImmediate(Connection.#continue, this)
    } else if (this.#state === 'idle') {
      this.#await()
    } else if (this.#held !== undefined) {
      // A pipelined request waits, or a body that is not read yet.
      this.#pause()
    }
  }

  static readonly #continue = (connection: Connection): void => {
    connection.#isScheduled = false
    connection.#process()
  }

  /** Waits for a request, or for the rest of one. After the client's FIN neither can arrive. */
  #await(): void {
    if (!this.#isHalfClosed) this.#resume()
    else if (this.#held === undefined) this.socket.destroySoon()
    else this.#refuse(refusalOf('incomplete'))
  }

  /** @returns whether a request has begun: its head is complete */
  #begin(bytes: Buffer): boolean {
    try {
      const head = this.#heads.read(bytes)
      this.#held = this.#heads.rest
      if (head === undefined) {
        this.#waitForRest()
        return false
      }
      this.#dispatch(head)
    } catch (error) {
      if (!(error instanceof InvalidMessageError)) throw error
      this.#refuse(refusalOf(error.reason))
    }
    return true
  }

  /** The time for a header counts from its first byte. */
  #waitForRest(): void {
    if (this.#hasBegun || this.#held === undefined) return
    this.#hasBegun = true
    this.#sinceMs = 0
  }

  #dispatch(head: RequestHead): void {
    const { framing } = head
    const response = new Response(this, {
      method: head.method,
      versionMinor: head.versionMinor,
      // Bytes after a handshake belong to the other protocol, even if the handshake is refused.
      isPersistent: head.isPersistent && !head.asksForWebSocket && !this.#isRetired,
      expectsContinue: head.fields.expect !== undefined && head.versionMinor > 0,
    })
    const hasBody = framing.by === 'chunks' || (framing.by === 'length' && framing.bytes > 0)
    this.#body = hasBody ? new RequestBody(this, framing) : undefined
    this.#response = response
    this.#startedAtMs = performance.now()
    this.#enter('busy')
    this.#server.handlers.request(
      {
        head,
        body: this.#body,
        socket: this.socket,
        peer: this.#peerAddress(),
        startedAtMs: this.#startedAtMs,
        upgrade: () => this.detach(),
      },
      response,
    )
  }

  /** Passes bytes to the body. Bytes after the body are held. */
  #feed(body: RequestBody, bytes: Buffer): void {
    const isOuter = !this.#isReading
    this.#isReading = true
    try {
      const taken = body.take(bytes)
      this.#droppedBytes += taken
      if (taken < bytes.length) this.#hold(bytes.subarray(taken))
    } catch (error) {
      if (!(error instanceof InvalidMessageError)) throw error
      this.#refuse(refusalOf(error.reason))
    } finally {
      if (isOuter) this.#isReading = false
    }
    if (isOuter) this.#settle()
  }

  /** Continues if the response has ended. */
  #settle(): void {
    const response = this.#response
    if (response === undefined || !response.isEnded) return
    if (this.#state !== 'busy' && this.#state !== 'discarding') return
    this.#hasAnswered = true
    if (response.closes || this.#isRetired) this.#close()
    else if (this.#body && !this.#body.isComplete) this.#discard(this.#body)
    else this.#next()
  }

  /**
   * Drops the rest of a body, so that the connection can be used again, or closes the connection if the rest is too
   * long.
   */
  #discard(body: RequestBody): void {
    if (this.#droppedBytes > discardLimits.bytes && this.#state === 'discarding') {
      this.#linger()
    } else if (this.#state === 'busy') {
      this.#enter('discarding')
      this.#server.expectSoon()
      body.discard()
      this.#settle()
    }
  }

  #next(): void {
    this.#response = undefined
    this.#body = undefined
    if (this.socket.writableNeedDrain) {
      this.#enter('draining')
      return
    }
    this.#enter('idle')
    if (this.#isReading) return
    if (this.#held !== undefined) this.#process()
    else this.#await()
  }

  #close(): void {
    const isWhole = this.#body === undefined || this.#body.isComplete
    if (isWhole && this.#held === undefined && !this.#isPaused && !this.#isGarbled) {
      this.#enter('closing')
      this.socket.destroySoon()
    } else {
      this.#linger()
    }
  }

  #linger(): void {
    this.#enter('lingering')
    this.#held = undefined
    this.#droppedBytes = 0
    this.#server.expectSoon()
    if (this.#isHalfClosed) {
      this.socket.destroySoon()
      return
    }
    this.socket.end()
    this.#resume()
  }

  /**
   * Answers invalid bytes, or a request that takes too long. A handler that waits for the body is notified of the
   * close.
   */
  #refuse({ code, drop, reason }: Refusal): void {
    const { handlers } = this.#server
    const waiting = this.#response
    handlers.dropped(drop)
    if (waiting?.headersSent) {
      // Bytes of another response have been sent. A complete one still arrives.
      if (waiting.isEnded) this.#linger()
      else this.socket.destroy()
      return
    }
    // A request that was passed to a handler is counted by it.
    if (waiting === undefined) handlers.refused(code, reason)
    else waiting.refusal = { status: gatewayErrors[code].status, reason }
    const response = new Response(this, refusedRequest)
    this.#response = response
    this.#isGarbled = true
    this.#enter('busy')
    waiting?.closed()
    const requestId = randomUUID()
    writeReply(response, problemReply(code, requestId), requestId)
    this.#settle()
  }

  // The timeouts.

  /** Checks the timeouts. @param nowMs of a monotonic clock */
  tick(nowMs: number): void {
    if (this.#sinceMs === 0) this.#sinceMs = nowMs
    const waitedMs = nowMs - this.#sinceMs
    switch (this.#state) {
      case 'idle':
        this.#checkIdle(waitedMs)
        return
      case 'busy':
        this.#checkRequest(nowMs)
        this.#checkSending(nowMs)
        // A client that closed the connection together with its request resets it at the first bytes of the answer.
        if (this.#isHalfClosed) this.detectReset()
        return
      case 'discarding':
        if (waitedMs >= discardLimits.timeMs) this.#linger()
        return
      case 'lingering':
        if (this.socket.writableLength > 0) {
          // The client has yet to read the response, and the FIN after it.
          this.#sinceMs = nowMs
          this.#checkSending(nowMs)
        } else {
          this.#checkLingering(nowMs, waitedMs)
        }
        return
      default:
        this.#checkSending(nowMs)
    }
  }

  #checkIdle(waitedMs: number): void {
    const { options, handlers } = this.#server
    if (waitedMs > 0) this.#heads.forget()
    if (this.#held !== undefined) {
      if (waitedMs >= options.headersTimeoutMs) this.#refuse({ code: 'REQUEST_TIMEOUT', drop: 'timeout' })
    } else if (!this.#hasAnswered) {
      if (waitedMs < options.headersTimeoutMs) return
      handlers.dropped('timeout')
      this.socket.destroy()
    } else if (waitedMs >= options.keepAliveTimeoutMs + idleGraceMs) {
      this.socket.destroy()
    }
  }

  #checkRequest(nowMs: number): void {
    if (this.#body === undefined || this.#body.isComplete) return
    if (nowMs - this.#startedAtMs < this.#server.options.requestTimeoutMs) return
    this.#refuse({ code: 'REQUEST_TIMEOUT', drop: 'timeout' })
  }

  #checkSending(nowMs: number): void {
    const { options, handlers } = this.#server
    if (!this.#sendProgress.isStalled(this.socket, nowMs, options.sendTimeoutMs)) return
    handlers.dropped('write_stalled')
    this.socket.destroy()
  }

  #checkLingering(nowMs: number, waitedMs: number): void {
    if (this.#droppedBytes !== this.#droppedAtTick || this.#droppedAtMs === 0) {
      this.#droppedAtTick = this.#droppedBytes
      this.#droppedAtMs = nowMs
    }
    if (nowMs - this.#droppedAtMs >= lingerLimits.silenceMs || waitedMs >= lingerLimits.timeMs) this.socket.destroy()
  }

  #enter(state: State): void {
    this.#state = state
    this.#sinceMs = 0
    this.#hasBegun = false
  }

  // The socket.

  #hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    this.#pause()
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.socket.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.socket.resume()
  }

  #peerAddress(): string {
    if (this.#peer === undefined) {
      const address = this.socket.remoteAddress ?? ''
      this.#peer = address.startsWith('::ffff:') ? (plainAddress(address) ?? address) : address
    }
    return this.#peer
  }
}

/** For invalid bytes: the response to them is the last one of the connection. */
const refusedRequest = { method: 'GET', versionMinor: 1, isPersistent: false, expectsContinue: false } as const
