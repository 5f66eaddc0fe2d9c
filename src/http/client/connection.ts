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

/** Who has sent a request, and is told what comes of it: one of `onEnd` and `onFail`, unless it aborts. */
export interface RoundTripHandler extends ResponseHandler {
  /** The answer has begun, and takes longer than most: said once, a fraction of a second later. */
  onLong?(head: UpstreamHead): void
  /** All that has come so far has been told: nothing else follows soon. */
  onPause?(): void
  onFail(error: RoundTripError): void
}

/** The pool that a connection belongs to. */
export interface ConnectionOwner {
  onIdle(): void
  onClosed(): void
}

/**
 * One HTTP/1.1 connection to a server, with one request at a time: a slow answer holds up nobody else's. It goes back to
 * its pool only when request and answer have both ended where they should; a byte more, and it is closed.
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
    // What comes goes to `onread`; flowing, the stream says when nothing more comes.
    this.#socket.resume()
  }

  /** Whether the head of a request with a body has left. */
  get hasBegunBody(): boolean {
    return this.#body?.hasBegun === true
  }

  /** Sends a request, as soon as there is a connection. Only where none is under way. */
  send(request: UpstreamRequest, handler: RoundTripHandler): void {
    this.#request = request
    this.#handler = handler
    if (this.#phaseTimeouts.phase === 'idle') this.#write(request)
  }

  /** Stops reading until `resume`: who is told cannot take more now. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Gives the round trip up: its handler hears no more, and the connection closes. */
  abort(): void {
    this.#handler = undefined
    this.#close()
  }

  /** Serves nothing more: it closes once the round trip under way has ended. */
  retire(): void {
    this.#isRetired = true
    if (this.#phaseTimeouts.phase === 'idle') this.#close()
  }

  /** Closes it; a round trip under way fails. */
  destroy(): void {
    this.#fail(this.#lossKind(), 'the gateway closes its connections')
  }

  /** Looks whether a wait has been too long, or is for nobody. @param nowMs of a monotonic clock */
  tick(nowMs: number): void {
    this.#body?.look()
    const head = this.#parser?.head
    if (head !== undefined && this.#totalTimeout.becomesLong()) this.#handler?.onLong?.(head)
    if (this.#request !== undefined && this.#totalTimeout.isExpired(this.#request.startedAtMs, head, nowMs)) {
      this.#fail(this.#waitsForClient() ? 'stalled' : 'late', 'the answer has not ended within the time for it')
    } else if (this.#phaseTimeouts.isExpired(nowMs)) {
      this.#onTooLong()
    }
  }

  #onTooLong(): void {
    if (this.#phaseTimeouts.phase === 'idle') this.#close()
    else if (this.#phaseTimeouts.phase === 'connecting')
      this.#fail('unreachable', 'no connection within the time for it')
    else if (this.#waitsForClient()) this.#fail('stalled', 'no more of a body is sent or taken')
    else this.#fail('late', 'no answer, or no more of it, within the time for it')
  }

  /** Whether it is for whoever asks to go on. */
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
    // Pieces of a head do not prolong the wait for all of it, nor do interim answers.
    if (this.#phaseTimeouts.phase === 'receiving') this.#phaseTimeouts.refresh()
    // Nobody has asked anything: what it says would be taken for the answer to the next request.
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

  /** The answer has ended. @param isClean whether nothing follows it */
  #settle(head: UpstreamHead | undefined, isClean: boolean): void {
    this.#parser = undefined
    this.#request = undefined
    this.#responses += 1
    const isSent = this.#body === undefined || this.#body.isSent
    this.#body?.stop()
    this.#body = undefined
    // Over TLS the end may come after reading was stopped; and an idle connection has to hear when the server closes it.
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
    // A fault of whoever is told is no fault of the answer.
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
