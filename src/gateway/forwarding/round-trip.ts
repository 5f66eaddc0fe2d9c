import type { ServerResponse } from 'node:http'
import type { AnswerHead } from '../../http/client/answer-head.ts'
import type { Connection, RoundTripHandler } from '../../http/client/connection.ts'
import type { RoundTripError } from '../../http/client/failure.ts'
import { expectsContinue } from '../../http/context.ts'
import { clientGone, type Exchange } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import type { ForwardDeps } from './forward.ts'
import { incomingHeaders } from './incoming-headers.ts'
import { hasBody, toOutgoingRequest } from './outgoing-request.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamFailure, type UpstreamFailure } from './upstream-failure.ts'

/** One request to an upstream and its answer, streamed to the client. */
export class RoundTrip implements RoundTripHandler {
  readonly #deps: ForwardDeps
  readonly #exchange: Exchange
  readonly #operation: MeteredOperation
  readonly #upstream: Upstream
  #connection: Connection | undefined
  #sentAtMs = 0
  #status = 0
  #attempts = 0
  /** Bytes of the body still owed, where the upstream said how many; -1 where it did not. */
  #owedBytes = -1
  #ended = false

  constructor(deps: ForwardDeps, exchange: Exchange, operation: MeteredOperation, upstream: Upstream) {
    this.#deps = deps
    this.#exchange = exchange
    this.#operation = operation
    this.#upstream = upstream
  }

  start(): void {
    const { res } = this.#exchange.context
    if (expectsContinue(this.#exchange.context)) res.writeContinue()
    res.on('close', this.#onClientClose)
    this.#sentAtMs = performance.now()
    this.#send()
  }

  #send(): void {
    this.#attempts += 1
    const { origin, pool } = this.#upstream.next()
    this.#connection = pool.send(toOutgoingRequest(this.#exchange, this.#operation, origin.host, this.#sentAtMs), this)
  }

  readonly #onClientClose = (): void => {
    if (this.#ended) return
    this.#connection?.abort()
    this.#end('client_gone', clientGone)
  }

  onHead(head: AnswerHead): void {
    const { res } = this.#exchange.context
    this.#status = head.status
    if (head.framing.by === 'length' && head.framing.bytes > 0) this.#owedBytes = head.framing.bytes
    if (this.#deps.isDraining()) res.shouldKeepAlive = false
    res.writeHead(head.status, incomingHeaders(this.#exchange, head))
    // The first bytes of the body take the header with them; where none came with it, it goes by itself.
    process.nextTick(flushHeader, res)
  }

  onData(piece: Buffer): void {
    const { res } = this.#exchange.context
    if (this.#owedBytes >= 0) {
      this.#owedBytes -= piece.length
      if (this.#owedBytes === 0) {
        endWith(res, piece)
        return
      }
    }
    // A copy, since the piece is a view of what will be read next.
    if (res.write(Buffer.from(piece))) return
    this.#connection?.pause()
    res.once('drain', () => this.#connection?.resume())
  }

  onEnd(): void {
    const { res } = this.#exchange.context
    if (!res.writableEnded) res.end()
    this.#end(undefined, this.#status)
  }

  onFail(error: RoundTripError): void {
    if (this.#ended) return
    const { req, res } = this.#exchange.context
    // A body that broke off at the client fails the round trip before the connection's end is heard of.
    if (req.errored) this.#onClientClose()
    else if (res.headersSent) {
      breakOff(this.#exchange, this.#owedBytes > 0 || res.chunkedEncoding)
      this.#end(toUpstreamFailure(error).reason, this.#status)
    } else if (this.#mayRetry(error)) {
      this.#send()
    } else {
      this.#refuse(error)
    }
  }

  /** Nothing has been sent to the client: it gets a refusal that says whose fault it was. */
  #refuse(error: RoundTripError): void {
    const { code, reason } = toUpstreamFailure(error)
    this.#ended = true
    this.#exchange.context.res.off('close', this.#onClientClose)
    this.#upstream.failed(reason)
    this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
    this.#deps.reply(this.#exchange, refuse(this.#exchange, code))
  }

  /**
   * A target that cannot be reached has seen nothing: another may. A kept connection that the upstream closed just now:
   * safe to try once more where a repeat changes nothing.
   */
  #mayRetry({ kind }: RoundTripError): boolean {
    const { method } = this.#exchange.context.req
    if (kind === 'unreachable') return this.#attempts < this.#upstream.options.targets.length
    const isSafe = (method === 'GET' || method === 'HEAD') && !hasBody(this.#exchange)
    return kind === 'closed' && this.#attempts === 1 && isSafe
  }

  #end(failure: UpstreamFailure | undefined, status: number): void {
    this.#ended = true
    // Others use it from now on: what this client still has to take must not hold them up.
    this.#connection = undefined
    const { res } = this.#exchange.context
    res.off('close', this.#onClientClose)
    this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
    if (failure) this.#upstream.failed(failure)
    else this.#upstream.answered(status, this.#exchange.upstreamMs)
    this.#deps.finish(this.#exchange, status)
  }
}

/** An event stream may be silent for long, and its client waits for the header. Node keeps that back until a byte follows. */
const flushHeader = (res: ServerResponse): void => {
  if (!res.destroyed && !res.writableEnded && !headerLeft(res)) res.flushHeaders()
}

/** `headersSent` says that the header is made; there is no public name for its having been handed to the socket. */
const headerLeft = (res: ServerResponse): boolean =>
  (res as ServerResponse & { _headerSent?: boolean })._headerSent === true

/** Up to this size a copy as text, which joins the header in one plain write, is cheaper than a gathering write. */
const joinedBytes = 8192

/** The last byte: header, body and end leave in one system call. */
const endWith = (res: ServerResponse, piece: Buffer): void => {
  if (piece.length <= joinedBytes) res.end(piece.toString('latin1', 0, piece.length), 'latin1')
  else res.end(Buffer.from(piece))
}

/**
 * Ends an answer that cannot be completed so that it looks broken: what has been written still arrives, then the
 * connection closes short of the declared length or the last chunk. Where neither frames it only a reset shows it.
 */
const breakOff = (exchange: Exchange, framed: boolean): void => {
  const { socket } = exchange.context.res
  if (socket === null) return
  // Node hands what was written in this turn to the socket at its end.
  process.nextTick(() => (framed ? socket.destroySoon() : socket.resetAndDestroy()))
}
