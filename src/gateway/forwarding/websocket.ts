import type { Socket } from 'node:net'
import type { RoundTripError } from '../../http/client/errors.ts'
import type { UpstreamHead } from '../../http/client/response-head.ts'
import { Upgrade, type UpgradeHandler } from '../../http/client/upgrade.ts'
import type { Response, ResponseListener } from '../../http/server/response.ts'
import { refuse, refuseOverload } from '../error-response.ts'
import { clientGone, type Exchange, type Step } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { Endpoint } from '../upstreams/endpoint.ts'
import type { QueuedRequest } from '../upstreams/pending-queue.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { toUpstreamFailure, type UpstreamFailure } from '../upstreams/upstream-failure.ts'
import type { ForwardDeps } from './forward-deps.ts'
import { tokenCheckOf } from './long-lived-streams.ts'
import { toClientHead } from './response-headers.ts'
import { hasBody, toUpgradeRequest } from './upstream-request.ts'
import { WebSocketRelay } from './websocket-relay.ts'

/**
 * Forwards a WebSocket handshake and connects the two sockets. A refusal by the upstream is forwarded as any other
 * response.
 */
export const forwardUpgrade =
  (deps: ForwardDeps): Step =>
  exchange => {
    const { operation } = exchange
    const upstream = operation?.target.kind === 'forward' ? deps.upstreams.get(operation.target.upstream) : undefined
    if (operation === undefined || upstream === undefined) return refuse(exchange, 'INTERNAL')
    // Bytes after a handshake belong to the WebSocket. The upstream would read a body as something else.
    if (hasBody(exchange)) return refuse(exchange, 'BAD_REQUEST')
    new WebSocketHandshake(deps, exchange, operation, upstream).start()
    return 'taken'
  }

/** One handshake, from its wait for an endpoint to the end of the WebSocket or of the response that refuses it. */
class WebSocketHandshake implements UpgradeHandler, ResponseListener, QueuedRequest<Endpoint> {
  readonly #deps: ForwardDeps
  readonly #exchange: Exchange
  readonly #operation: MeteredOperation
  readonly #upstream: Upstream
  readonly #response: Response
  #endpoint: Endpoint | undefined
  /** Undefined once the handshake has been answered completely. */
  #handshake: Upgrade | undefined
  #sentAtMs = 0

  constructor(deps: ForwardDeps, exchange: Exchange, operation: MeteredOperation, upstream: Upstream) {
    this.#deps = deps
    this.#exchange = exchange
    this.#operation = operation
    this.#upstream = upstream
    this.#response = exchange.context.response
  }

  start(): void {
    this.#response.listener = this
    const endpoint = this.#upstream.take()
    if (endpoint) this.onTurn(endpoint)
    else if (!this.#upstream.wait(this)) this.onBusy()
  }

  onTurn(endpoint: Endpoint): void {
    this.#endpoint = endpoint
    this.#sentAtMs = performance.now()
    const { trace } = this.#exchange
    if (trace) trace.upstreamHost = endpoint.host
    const head = toUpgradeRequest(this.#exchange, this.#operation, endpoint.host)
    this.#handshake = new Upgrade(endpoint.open, { head, protocol: 'websocket' }, this.#upstream.options, this)
  }

  onBusy(): void {
    this.#failed('busy')
    this.#deps.reply(this.#exchange, refuseOverload(this.#exchange))
  }

  onOpen(head: UpstreamHead, upstreamSocket: Socket): void {
    this.#handshake = undefined
    this.#onAnswer(head)
    const { options } = this.#upstream
    const socket = this.#exchange.context.request.upgrade()
    socket.once('close', () => this.#end(head.status))
    socket.setKeepAlive(true)
    socket.write(`${switching}${toClientHead(this.#exchange, head).lines}\r\n`, 'latin1')
    this.#deps.streams.add(new WebSocketRelay(socket, upstreamSocket), {
      idleTimeoutMs: options.webSocketIdleTimeoutMs,
      isTokenExpiredOrRevoked: options.webSocketsOutliveTokens
        ? undefined
        : tokenCheckOf(this.#exchange, this.#deps.isTokenExpiredOrRevoked),
    })
  }

  onHead(head: UpstreamHead): void {
    this.#onAnswer(head)
    this.#response.writeHead(toClientHead(this.#exchange, head))
  }

  onData(piece: Buffer): void {
    if (!this.#response.write(piece)) this.#handshake?.pause()
  }

  onDrain(): void {
    this.#handshake?.resume()
  }

  onEnd(): void {
    this.#handshake = undefined
    this.#response.end()
    this.#end(this.#exchange.upstreamStatus)
  }

  onFail(error: RoundTripError): void {
    this.#handshake = undefined
    const { code, reason } = toUpstreamFailure(error)
    this.#failed(reason)
    if (this.#response.headersSent) {
      this.#response.abort()
      this.#end(this.#exchange.upstreamStatus)
    } else {
      if (this.#endpoint) this.#upstream.recordFailure(this.#endpoint, error)
      this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
      this.#giveBack()
      this.#deps.reply(this.#exchange, refuse(this.#exchange, code))
    }
  }

  #onAnswer({ status }: UpstreamHead): void {
    this.#exchange.upstreamStatus = status
    this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
    if (this.#endpoint) this.#upstream.recordResponse(this.#endpoint, status)
    this.#upstream.countResponse(status, this.#exchange.upstreamMs)
  }

  #failed(reason: UpstreamFailure): void {
    this.#exchange.upstreamFailure = reason
    this.#upstream.countFailure(reason)
  }

  onClose(): void {
    this.#upstream.leave(this)
    if (this.#handshake) this.#failed('client_gone')
    this.#handshake?.abort()
    this.#handshake = undefined
    this.#end(this.#exchange.upstreamStatus || clientGone)
  }

  #end(status: number): void {
    this.#giveBack()
    this.#deps.finish(this.#exchange, status)
  }

  #giveBack(): void {
    if (this.#endpoint) this.#upstream.giveBack(this.#endpoint)
    this.#endpoint = undefined
  }
}

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
