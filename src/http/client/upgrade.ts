import type { Socket } from 'node:net'
import { InvalidMessageError } from '../message/invalid-message.ts'
import type { OpenSocket } from './connector.ts'
import { type FailureKind, RoundTripError } from './errors.ts'
import type { UpstreamHead } from './response-head.ts'
import { type ResponseHandler, ResponseParser } from './response-parser.ts'
import type { ConnectionLimits } from './timeouts.ts'

/** Receives the result of an upgrade: `onOpen`, or an ordinary response, or `onFail`. */
export interface UpgradeHandler extends ResponseHandler {
  /** @param socket uses the other protocol from now on; it is paused, and the handler owns it */
  onOpen(head: UpstreamHead, socket: Socket): void
  onFail(error: RoundTripError): void
}

export interface UpgradeRequest {
  /** Request line and fields, latin1, with the empty line at its end. */
  readonly head: string
  /** The name of the protocol in lower case, as in `Upgrade`. */
  readonly protocol: string
}

export type UpgradeLimits = Pick<ConnectionLimits, 'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs'>

/** A request for another protocol, without a body, on a connection of its own (RFC 9110 section 7.8). */
export class Upgrade {
  readonly #request: UpgradeRequest
  readonly #limits: UpgradeLimits
  readonly #listener: UpgradeHandler
  readonly #socket: Socket
  readonly #parser: ResponseParser
  #timer: NodeJS.Timeout
  #isConnected = false
  #isOver = false

  constructor(open: OpenSocket, request: UpgradeRequest, limits: UpgradeLimits, listener: UpgradeHandler) {
    this.#request = request
    this.#limits = limits
    this.#listener = listener
    this.#parser = new ResponseParser('GET', this.#responseHandler, undefined, true)
    this.#timer = setTimeout(
      () => this.#fail('unreachable', 'no connection within the connect timeout'),
      limits.connectTimeoutMs,
    )
    this.#socket = open(undefined, () => this.#onReady())
    this.#socket.setNoDelay(true)
    this.#socket.on('data', this.#onData).on('end', this.#onEnd)
    this.#socket.on('error', error => this.#fail(this.#lossKind(), error.message, error))
    this.#socket.on('close', () => this.#fail(this.#lossKind(), 'the connection is closed'))
  }

  /**
   * Pauses reading the response of a refusal until `resume`. There is no timeout meanwhile, because the client is the
   * one that does not read.
   */
  pause(): void {
    clearTimeout(this.#timer)
    this.#socket.pause()
  }

  resume(): void {
    if (this.#isOver) return
    this.#waitFor(this.#limits.bodyTimeoutMs)
    this.#socket.resume()
  }

  /** Aborts the upgrade: its handler is not called any more. Once the connection has switched, this changes nothing. */
  abort(): void {
    if (this.#isOver) return
    this.#finish()
    this.#socket.destroy()
  }

  #onReady(): void {
    if (this.#isOver) return
    this.#isConnected = true
    this.#waitFor(this.#limits.headersTimeoutMs)
    this.#socket.write(this.#request.head, 'latin1')
  }

  readonly #responseHandler: ResponseHandler = {
    onHead: head => {
      if (head.status === 101) return
      this.#waitFor(this.#limits.bodyTimeoutMs)
      this.#listener.onHead(head)
    },
    onData: piece => {
      this.#timer.refresh()
      this.#listener.onData(piece)
    },
    onEnd: () => {
      if (this.#parser.head?.status !== 101) this.#listener.onEnd()
    },
  }

  readonly #onData = (bytes: Buffer): void => {
    try {
      const taken = this.#parser.read(bytes)
      const { head } = this.#parser
      if (head?.status === 101) this.#open(head, bytes.subarray(taken))
      else if (this.#parser.isDone) this.abort()
    } catch (error) {
      // An error of the handler is not a fault of the response.
      if (!(error instanceof InvalidMessageError)) throw error
      this.#fail(this.#parser.head ? 'broken-off' : 'invalid', error.message, error)
    }
  }

  #open(head: UpstreamHead, rest: Buffer): void {
    if (!switchesTo(head, this.#request.protocol))
      throw new InvalidMessageError(
        'bad-interim-response',
        'the response switches to another protocol than the requested one',
      )
    this.#finish()
    this.#socket.off('data', this.#onData).off('end', this.#onEnd).pause()
    if (rest.length > 0) this.#socket.unshift(rest)
    this.#listener.onOpen(head, this.#socket)
  }

  readonly #onEnd = (): void => {
    if (this.#isOver) return
    if (this.#parser.head?.framing.by === 'close') {
      this.#parser.finish()
      this.abort()
    }
    this.#fail(this.#lossKind(), 'the other side has closed the connection')
  }

  #lossKind(): FailureKind {
    if (!this.#isConnected) return 'unreachable'
    return this.#parser.head ? 'broken-off' : 'closed'
  }

  #waitFor(limitMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => this.#fail('late', 'no response, or no further piece of it, within the timeout'),
      limitMs,
    )
  }

  #fail(kind: FailureKind, message: string, cause?: unknown): void {
    if (this.#isOver) return
    this.abort()
    this.#listener.onFail(new RoundTripError(kind, message, false, cause))
  }

  #finish(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }
}

/** Whether a 101 names exactly the protocol that was requested. */
const switchesTo = ({ fields, connection }: UpstreamHead, protocol: string): boolean => {
  const names = fields.filter((_, index) => index % 2 === 1 && fields[index - 1]?.toLowerCase() === 'upgrade')
  const isNamed = names.length === 1 && names[0]?.toLowerCase() === protocol
  return isNamed && connection.split(',').some(option => option.trim() === 'upgrade')
}
