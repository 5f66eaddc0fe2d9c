import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import { expectsContinue } from '../../http/context.ts'
import { withoutCredentials } from '../callers/query-credentials.ts'
import { clientGone, type Exchange, type Outcome, type Step } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import { incomingHeaders, isPlainlyCoded, type UpstreamHeaders } from './incoming-headers.ts'
import { outgoingHeaders } from './outgoing-headers.ts'
import { requestBody } from './request-body.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamFailure, UnreadableCodingError, type UpstreamFailure } from './upstream-failure.ts'

export interface ForwardDeps {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Called once a forwarded answer has ended, well or not; `status` is what the client saw (499: it left). */
  finish(exchange: Exchange, status: number): void
  /** Writes a refusal where no answer had begun. */
  reply(exchange: Exchange, outcome: Outcome): void
  /** Whether answers end their connections, since the process is about to stop. */
  isDraining(): boolean
  /** WebSocket handshakes go another way. */
  readonly upgrade: Step
}

/** Step 6: the upstream round trip, streamed both ways. 502, 503, 504. */
export const forward =
  (deps: ForwardDeps): Step =>
  (exchange): Outcome | Promise<Outcome> => {
    const { operation } = exchange
    if (operation?.target.kind !== 'forward') return refuse(exchange, 'INTERNAL')
    // Whoever left while the steps before waited is not heard of again: its connection has said so already.
    if (exchange.context.req.socket.destroyed) return 'gone'
    if (exchange.upgrade) return deps.upgrade(exchange)
    const upstream = deps.upstreams.get(operation.target.upstream)
    if (upstream === undefined) return refuse(exchange, 'INTERNAL')
    new RoundTrip(deps, exchange, operation, upstream).start()
    return 'taken'
  }

/** The path and query that the upstream sees: prefix stripped if so configured, query credentials never. */
export const upstreamPath = (exchange: Exchange, operation: MeteredOperation): string => {
  const { path = '/', query = '' } = exchange.target ?? {}
  const strip = operation.target.kind === 'forward' ? operation.target.stripPrefix : ''
  const rest = strip !== '' && path.startsWith(strip) ? path.slice(strip.length) : path
  const left = operation.credentials === 'query' ? withoutCredentials(query) : query
  const absolute = rest.startsWith('/') ? rest : `/${rest}`
  return left === '' ? absolute : `${absolute}?${left}`
}

/** One request to an upstream and its answer; what undici calls back. */
class RoundTrip implements Dispatcher.DispatchHandler {
  readonly #deps: ForwardDeps
  readonly #exchange: Exchange
  readonly #operation: MeteredOperation
  readonly #upstream: Upstream
  #controller: Dispatcher.DispatchController | undefined
  #sentAtMs = 0
  #status = 0
  #attempts = 1
  #clientLeft = false
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
    this.#dispatch()
  }

  #dispatch(): void {
    const { req } = this.#exchange.context
    const options: Dispatcher.DispatchOptions = {
      method: (req.method ?? 'GET') as Dispatcher.HttpMethod,
      path: upstreamPath(this.#exchange, this.#operation),
      headers: outgoingHeaders(this.#exchange, this.#operation),
      body: hasBody(this.#exchange) ? requestBody(req) : null,
      // A slow answer must not hold up others: every connection carries one request at a time.
      blocking: false,
    }
    this.#upstream.next().pool.dispatch(options, this)
  }

  readonly #onClientClose = (): void => {
    if (this.#ended) return
    this.#clientLeft = true
    // Ended first: undici reports the abort as an error at once, and it is none.
    this.#end('client_gone', clientGone)
    this.#controller?.abort(new Error('the client left'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#clientLeft) controller.abort(new Error('the client left'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, upstreamHeaders: UpstreamHeaders): void {
    // 1xx other than 101 is between the upstream and us (RFC 9110 section 15.2 lets a proxy drop it).
    if (status < 200) return
    if (!isPlainlyCoded(upstreamHeaders)) {
      controller.abort(new UnreadableCodingError())
      return
    }
    this.#status = status
    const { res, req } = this.#exchange.context
    const length = upstreamHeaders['content-length']
    if (typeof length === 'string' && req.method !== 'HEAD' && status !== 204 && status !== 304) {
      this.#owedBytes = Number(length)
    }
    if (this.#deps.isDraining()) res.shouldKeepAlive = false
    res.writeHead(status, incomingHeaders(this.#exchange, status, upstreamHeaders))
    // The first bytes of the body take the header with them; where none came with it, it goes by itself.
    process.nextTick(flushHeader, res)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { res } = this.#exchange.context
    if (this.#owedBytes >= 0) {
      this.#owedBytes -= chunk.length
      if (this.#owedBytes === 0) {
        endWith(res, chunk)
        return
      }
    }
    if (res.write(chunk)) return
    controller.pause()
    res.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    const { res } = this.#exchange.context
    if (!res.writableEnded) res.end()
    this.#end(undefined, this.#status)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return
    const { req, res } = this.#exchange.context
    // A body that broke off at the client fails the round trip before the connection's end is heard of.
    if (req.errored) this.#onClientClose()
    else if (res.headersSent) {
      breakOff(this.#exchange, this.#owedBytes > 0 || res.chunkedEncoding)
      this.#end('reset_mid_body', this.#status)
    } else if (this.#mayRetry(error)) {
      this.#attempts += 1
      this.#dispatch()
    } else {
      this.#refuse(error)
    }
  }

  /** Nothing has been sent to the client: it gets a refusal that says whose fault it was. */
  #refuse(error: Error): void {
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
  #mayRetry(error: Error): boolean {
    const { method } = this.#exchange.context.req
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (unreachable.has(code)) return this.#attempts < this.#upstream.options.targets.length
    const isReset = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
    return this.#attempts === 1 && isReset && (method === 'GET' || method === 'HEAD') && !hasBody(this.#exchange)
  }

  #end(failure: UpstreamFailure | undefined, status: number): void {
    this.#ended = true
    const { res } = this.#exchange.context
    res.off('close', this.#onClientClose)
    this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
    if (failure) this.#upstream.failed(failure)
    else this.#upstream.answered(status, this.#exchange.upstreamMs)
    this.#deps.finish(this.#exchange, status)
  }
}

/** What a connection fails with before a byte of the request has left. */
const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether a body follows the header (RFC 9112 section 6.3). */
export const hasBody = ({ context: { fields } }: Exchange): boolean =>
  fields.transferEncoding !== undefined || (fields.contentLength !== undefined && fields.contentLength !== '0')

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
const endWith = (res: ServerResponse, chunk: Buffer): void => {
  if (chunk.length <= joinedBytes) res.end(chunk.toString('latin1'), 'latin1')
  else res.end(chunk)
}

/**
 * Ends an answer that cannot be completed so that it looks broken: what has been written still arrives, then the
 * connection closes short of the declared length or the last chunk. Where neither frames it only a reset shows it.
 */
const breakOff = (exchange: Exchange, framed: boolean): void => {
  const { socket } = exchange.context.res
  if (socket === null) return
  if (framed) socket.destroySoon()
  else socket.resetAndDestroy()
}
