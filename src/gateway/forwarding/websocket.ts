import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { writeCheckedHead } from '../../http/checked-head.ts'
import type { AnswerHead } from '../../http/client/answer-head.ts'
import type { RoundTripError } from '../../http/client/failure.ts'
import { Handshake, type HandshakeListener } from '../../http/client/handshake.ts'
import type { AuthorizationServer } from '../../oauth/index.ts'
import { clientGone, type Exchange, type Outcome, type Step, type Upgrade } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import type { Member } from '../upstreams/member.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { toUpstreamFailure, type UpstreamFailure } from '../upstreams/upstream-failure.ts'
import type { Waiter } from '../upstreams/waiting-line.ts'
import { breakOff } from './break-off.ts'
import { refuseBusy } from './busy.ts'
import { type EndlessWatch, tokenCheckOf } from './endless-watch.ts'
import { incomingHead } from './incoming-head.ts'
import { hasBody, toHandshake } from './outgoing-request.ts'
import { WebSocketRelay } from './websocket-relay.ts'

export interface WebSocketDeps {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Called once the connection has ended or failed; 101 if it was open. */
  finish(exchange: Exchange, status: number): void
  /** Writes a refusal where no answer had begun. */
  reply(exchange: Exchange, outcome: Outcome): void
  readonly endless: EndlessWatch
  readonly hasTokenEnded: AuthorizationServer['hasTokenEnded']
}

/** Passes a WebSocket handshake upstream and joins the two sockets; a refusal is passed back as any other answer is. */
export const forwardUpgrade =
  (deps: WebSocketDeps): Step =>
  exchange => {
    const { operation, upgrade } = exchange
    const upstream = operation?.target.kind === 'forward' ? deps.upstreams.get(operation.target.upstream) : undefined
    if (operation === undefined || upstream === undefined || upgrade === undefined) return refuse(exchange, 'INTERNAL')
    // What follows a handshake belongs to the WebSocket: a body would be read as something else behind the gateway.
    if (hasBody(exchange)) return refuse(exchange, 'BAD_REQUEST')
    new WebSocketHandshake(deps, exchange, operation, upstream, upgrade).start()
    return 'taken'
  }

/** One handshake, from its wait for a member to the end of the WebSocket or of the refusal. */
class WebSocketHandshake implements HandshakeListener, Waiter<Member> {
  readonly #deps: WebSocketDeps
  readonly #exchange: Exchange
  readonly #operation: MeteredOperation
  readonly #upstream: Upstream
  readonly #res: ServerResponse
  /** The client's. */
  readonly #socket: Socket
  /** What the client has said behind its handshake. */
  readonly #early: Buffer
  #member: Member | undefined
  /** Until it is answered in whole, one way or the other. */
  #handshake: Handshake | undefined
  #sentAtMs = 0
  /** Of an answer that refuses. */
  #hasLength = false

  constructor(
    deps: WebSocketDeps,
    exchange: Exchange,
    operation: MeteredOperation,
    upstream: Upstream,
    upgrade: Upgrade,
  ) {
    this.#deps = deps
    this.#exchange = exchange
    this.#operation = operation
    this.#upstream = upstream
    this.#res = exchange.context.res
    this.#socket = upgrade.socket as Socket
    this.#early = upgrade.head
  }

  start(): void {
    this.#socket.once('close', this.#onClientClose).once('end', this.#onClientEnd)
    const member = this.#upstream.take()
    if (member) this.onTurn(member)
    else if (!this.#upstream.wait(this)) this.onBusy()
  }

  onTurn(member: Member): void {
    this.#member = member
    this.#sentAtMs = performance.now()
    const { trace } = this.#exchange
    if (trace) trace.upstreamHost = member.host
    const head = toHandshake(this.#exchange, this.#operation, member.host)
    this.#handshake = new Handshake(member.open, { head, protocol: 'websocket' }, this.#upstream.options, this)
  }

  onBusy(): void {
    this.#failed('busy')
    this.#deps.reply(this.#exchange, refuseBusy(this.#exchange))
  }

  onOpen(head: AnswerHead, upstreamSocket: Socket): void {
    this.#handshake = undefined
    this.#onAnswer(head)
    const { options } = this.#upstream
    const socket = this.#socket.off('end', this.#onClientEnd)
    this.#res.detachSocket(socket)
    socket.setNoDelay(true).setKeepAlive(true)
    socket.write(`${switching}${incomingHead(this.#exchange, head).lines}\r\n`, 'latin1')
    if (this.#early.length > 0) socket.unshift(this.#early)
    this.#deps.endless.add(new WebSocketRelay(socket, upstreamSocket), {
      idleTimeoutMs: options.webSocketIdleTimeoutMs,
      hasTokenEnded: options.webSocketsOutliveTokens
        ? undefined
        : tokenCheckOf(this.#exchange, this.#deps.hasTokenEnded),
    })
  }

  onHead(head: AnswerHead): void {
    this.#onAnswer(head)
    this.#hasLength = head.framing.by === 'length'
    writeCheckedHead(this.#res, incomingHead(this.#exchange, head))
  }

  onData(piece: Buffer): void {
    if (this.#res.write(piece)) return
    this.#handshake?.pause()
    // The response hears no `drain`: Node took its listener off the socket. Another piece may come before the pause holds.
    this.#socket.off('drain', this.#onDrain).once('drain', this.#onDrain)
  }

  readonly #onDrain = (): void => this.#handshake?.resume()

  onEnd(): void {
    this.#handshake = undefined
    this.#res.end()
    this.#end(this.#exchange.upstreamStatus)
  }

  onFail(error: RoundTripError): void {
    this.#handshake = undefined
    const { code, reason } = toUpstreamFailure(error)
    this.#failed(reason)
    if (this.#res.headersSent) {
      breakOff(this.#exchange, this.#hasLength || this.#res.chunkedEncoding)
      this.#end(this.#exchange.upstreamStatus)
    } else {
      if (this.#member) this.#upstream.missed(this.#member, error)
      this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
      this.#giveBack()
      this.#deps.reply(this.#exchange, refuse(this.#exchange, code))
    }
  }

  #onAnswer({ status }: AnswerHead): void {
    this.#exchange.upstreamStatus = status
    this.#exchange.upstreamMs = performance.now() - this.#sentAtMs
    if (this.#member) this.#upstream.heard(this.#member, status)
    this.#upstream.answered(status, this.#exchange.upstreamMs)
  }

  #failed(reason: UpstreamFailure): void {
    this.#exchange.upstreamFailure = reason
    this.#upstream.failed(reason)
  }

  readonly #onClientClose = (): void => {
    this.#upstream.leave(this)
    if (this.#handshake) this.#failed('client_gone')
    this.#handshake?.abort()
    this.#handshake = undefined
    this.#end(this.#exchange.upstreamStatus || clientGone)
  }

  /** Half a connection has no use for a handshake; Node keeps it until both halves are closed. */
  readonly #onClientEnd = (): void => void this.#socket.destroy()

  #end(status: number): void {
    this.#giveBack()
    this.#deps.finish(this.#exchange, status)
  }

  #giveBack(): void {
    if (this.#member) this.#upstream.giveBack(this.#member)
    this.#member = undefined
  }
}

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
