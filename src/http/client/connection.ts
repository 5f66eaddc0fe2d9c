import type { Socket } from 'node:net'
import { InvalidMessageError } from '../message/invalid-message.ts'
import { type ConnectionRef, isResponsePossible, readInto } from './connection-ref.ts'
import type { OpenSocket } from './connector.ts'
import { drainBeforeDestroy } from './early-response.ts'
import { type FailureKind, RoundTripError } from './errors.ts'
import { PhaseTimeouts } from './phase-timeouts.ts'
import { hasBody, type UpstreamRequest } from './request.ts'
import { RequestBodyWriter } from './request-body.ts'
import type { UpstreamHead } from './response-head.ts'
import { UpstreamHeadParser } from './response-head-parser.ts'
import { type ResponseHandler, ResponseParser } from './response-parser.ts'
import { type ConnectionLimits, keepAliveOf } from './timeouts.ts'
import { TotalTimeout } from './total-timeout.ts'

/** Receives the result of a request: one of `onEnd` and `onFail`, unless it is aborted. */
export interface RoundTripHandler extends ResponseHandler {
  /** The response has begun and takes longer than most. Called once, a fraction of a second after its begin. */
  onLong?(head: UpstreamHead): void
  /** All bytes that have arrived were passed on, and no further ones follow soon. */
  onPause?(): void
  onFail(error: RoundTripError): void
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  onIdle(): void
  onClosed(): void
}

/**
 * One HTTP/1.1 connection to a server, with one request at a time, so that a slow response delays no other request. It
 * returns to its pool only if request and response have both ended where they should. It is closed if a single byte
 * follows.
 */
export class Connection {
  readonly #owner: ConnectionOwner
  readonly #limits: ConnectionLimits
  readonly #phaseTimeouts: PhaseTimeouts
  readonly #totalTimeout: TotalTimeout
  readonly #socket: Socket
  readonly #ref: ConnectionRef = { to: this }
  readonly #heads = new UpstreamHeadParser()
  #isPaused = false
  #isRetired = false
  #isClosed = false
  #responses = 0
  #request: UpstreamRequest | undefined
  #handler: RoundTripHandler | undefined
  #parser: ResponseParser | undefined
  #body: RequestBodyWriter | undefined

  constructor(open: OpenSocket, limits: ConnectionLimits, owner: ConnectionOwner) {
    this.#owner = owner
    this.#limits = limits
    this.#phaseTimeouts = new PhaseTimeouts(limits)
    this.#totalTimeout = new TotalTimeout(limits)
    this.#socket = open(readInto(this.#ref), () => this.#onReady())
    this.#socket.setNoDelay(true)
    drainBeforeDestroy(this.#socket, isResponsePossible(this.#ref))
    this.#socket.on('error', error => this.#onError(error))
    this.#socket.on('end', () => this.#onEnd())
    this.#socket.on('close', () => this.#onClose())
    // Bytes are passed to `onread`. The stream must flow so that it emits `end`.
    this.#socket.resume()
  }

  /** Whether the head of a request with a body has been sent. */
  get hasBegunBody(): boolean {
    return this.#body?.hasBegun === true
  }

  /** Sends a request as soon as the connection is open. Only if no other request is under way. */
  send(request: UpstreamRequest, handler: RoundTripHandler): void {
    this.#request = request
    this.#handler = handler
    if (this.#phaseTimeouts.phase === 'idle') this.#write(request)
  }

  /** Pauses reading until `resume`, because the handler cannot accept more now. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Aborts the round trip: its handler is not called any more, and the connection closes. */
  abort(): void {
    this.#handler = undefined
    this.#close()
  }

  /** Closes the connection once the current round trip has ended. */
  retire(): void {
    this.#isRetired = true
    if (this.#phaseTimeouts.phase === 'idle') this.#close()
  }

  /** Closes the connection. A round trip under way fails. */
  destroy(): void {
    this.#fail(this.#lossKind(), 'the gateway closes its connections')
  }

  /** Checks the timeouts. @param nowMs of a monotonic clock */
  tick(nowMs: number): void {
    this.#body?.checkReset()
    const head = this.#parser?.head
    if (head !== undefined && this.#totalTimeout.becomesLong()) this.#handler?.onLong?.(head)
    if (this.#request !== undefined && this.#totalTimeout.isExpired(this.#request.startedAtMs, head, nowMs)) {
      this.#fail(this.#waitsForClient() ? 'stalled' : 'late', 'the response has not ended within the total timeout')
    } else if (this.#phaseTimeouts.isExpired(nowMs)) {
      this.#onTooLong()
    }
  }

  #onTooLong(): void {
    if (this.#phaseTimeouts.phase === 'idle') this.#close()
    else if (this.#phaseTimeouts.phase === 'connecting')
      this.#fail('unreachable', 'no connection within the connect timeout')
    else if (this.#waitsForClient()) this.#fail('stalled', 'the client has stopped sending or reading a body')
    else this.#fail('late', 'no response, or no further piece of it, within the timeout')
  }

  /** Whether the round trip waits for the client. */
  #waitsForClient(): boolean {
    if (this.#phaseTimeouts.phase === 'sending') return this.#body?.isHeldUp === false
    return this.#phaseTimeouts.phase === 'receiving' && this.#isPaused
  }

  #onReady(): void {
    if (this.#isClosed) return
    this.#phaseTimeouts.enter('idle')
    if (this.#request) this.#write(this.#request)
  }

  #write(request: UpstreamRequest): void {
    this.#totalTimeout.restart()
    this.#parser = new ResponseParser(request.method, this.#responseHandler, this.#heads)
    if (!hasBody(request)) {
      this.#phaseTimeouts.enter('waiting')
      this.#socket.write(request.head, 'latin1')
      return
    }
    this.#phaseTimeouts.enter('sending')
    this.#body = new RequestBodyWriter(this.#socket, request, {
      onProgress: () => this.#phaseTimeouts.refresh(),
      onSent: () => {
        if (this.#phaseTimeouts.phase === 'sending') this.#phaseTimeouts.enter('waiting')
      },
      onTooLarge: () => this.#fail('too-large', 'the body is larger than it may be'),
    })
    this.#body.start(request.head)
  }

  readonly #responseHandler: ResponseHandler = {
    onHead: head => {
      this.#phaseTimeouts.enter('receiving')
      this.#handler?.onHead(head)
    },
    onData: piece => this.#handler?.onData(piece),
    onEnd: () => {
      const handler = this.#handler
      this.#handler = undefined
      handler?.onEnd()
    },
  }

  /** @returns whether more may be read */
  onRead(bytes: Buffer): boolean {
    const parser = this.#parser
    // Pieces of a head and interim responses do not restart the timeout for the head.
    if (this.#phaseTimeouts.phase === 'receiving') this.#phaseTimeouts.refresh()
    // There is no request, so the bytes would be taken for the response to the next request.
    if (parser === undefined) {
      this.#close()
      return true
    }
    try {
      const taken = parser.read(bytes)
      if (parser.isDone) this.#settle(parser.head, taken === bytes.length)
      else this.#handler?.onPause?.()
    } catch (error) {
      this.#failReading(error)
    }
    return !this.#isPaused
  }

  /** The response has ended. @param isClean whether no byte follows it */
  #settle(head: UpstreamHead | undefined, isClean: boolean): void {
    this.#parser = undefined
    this.#request = undefined
    this.#responses += 1
    const isSent = this.#body === undefined || this.#body.isSent
    this.#body?.stop()
    this.#body = undefined
    // Over TLS the end may arrive after reading was paused, and an idle connection must notice when the server closes
    // it.
    this.resume()
    if (!isClean || !isSent || this.#isRetired || this.#isClosed || head?.persists !== true) {
      this.#close()
      return
    }
    const keepAliveMs = keepAliveOf(head, this.#limits)
    if (keepAliveMs <= 0) {
      this.#close()
      return
    }
    this.#phaseTimeouts.enterIdle(keepAliveMs)
    this.#owner.onIdle()
  }

  #failReading(error: unknown): void {
    // An error of the handler is not a fault of the response.
    if (!(error instanceof InvalidMessageError)) throw error
    this.#fail(this.#parser?.head ? 'broken-off' : 'invalid', error.message, error)
  }

  #onEnd(): void {
    const parser = this.#parser
    if (parser && !parser.isDone && parser.head?.framing.by === 'close') {
      parser.finish()
      this.#settle(parser.head, false)
    }
    this.#fail(this.#lossKind(), 'the other side has closed the connection')
  }

  #onError(error: Error): void {
    this.#fail(this.#lossKind(), error.message, error)
  }

  #onClose(): void {
    this.#fail(this.#lossKind(), 'the connection is closed')
  }

  #lossKind(): FailureKind {
    if (this.#phaseTimeouts.phase === 'connecting') return 'unreachable'
    return this.#parser?.head ? 'broken-off' : 'closed'
  }

  #fail(kind: FailureKind, message: string, cause?: unknown): void {
    const handler = this.#handler
    this.#handler = undefined
    this.#close()
    handler?.onFail(new RoundTripError(kind, message, this.#responses > 0, cause))
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#request = undefined
    this.#parser = undefined
    this.#body?.stop()
    this.#body = undefined
    this.#socket.destroy()
    this.#ref.to = undefined
    this.#owner.onClosed()
  }
}
