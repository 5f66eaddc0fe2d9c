import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyServer } from 'http-proxy'
import { nodeHttp } from '../../node-http.ts'
import type { AuthorizationServer } from '../../oauth/index.ts'
import { clientGone, type Exchange, type Outcome, type Step } from '../exchange.ts'
import { refuse } from '../refusal.ts'
import type { Member } from '../upstreams/member.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { refuseBusy } from './busy.ts'
import { mergeLimits } from './limit-merge.ts'
import { outgoingHeaders } from './outgoing-headers.ts'
import { hasBody, upstreamPath } from './outgoing-request.ts'
import { WebSocketRelay } from './websocket-relay.ts'
import { tokenCheckOf, type WebSocketWatch } from './websocket-watch.ts'

export interface WebSocketDeps {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Called once the connection has ended or failed; 101 if it was open. */
  finish(exchange: Exchange, status: number): void
  /** Writes a refusal where no answer had begun. */
  reply(exchange: Exchange, outcome: Outcome): void
  readonly webSockets: WebSocketWatch
  readonly hasTokenEnded: AuthorizationServer['hasTokenEnded']
}

/** A handshake on its way to an upstream. */
interface Handshake {
  readonly exchange: Exchange
  readonly upstream: Upstream
  readonly member: Member
  /** The client's. */
  readonly socket: Socket
}

/**
 * Passes a WebSocket handshake upstream, by `http-proxy`'s `ws`, whose `web` is never called; a relay of ours joins the two
 * sockets.
 */
export const forwardUpgrade = (deps: WebSocketDeps): Step => {
  const proxy = new ProxyServer({ xfwd: false })
  const handshakes = new WeakMap<IncomingMessage, Handshake>()
  const accepted = new WeakMap<Socket, Handshake>()
  // A client's reset comes here. Without a listener of ours http-proxy throws it, and the worker dies of it.
  proxy.on('error', () => undefined)
  proxy.on('proxyReqWs', (proxyReq: ClientRequest, req: IncomingMessage) => {
    const handshake = handshakes.get(req)
    if (handshake) watchAnswer(proxyReq, handshake, upstreamSocket => accepted.set(upstreamSocket, handshake))
  })
  proxy.on('open', (upstreamSocket: Socket) => {
    const handshake = accepted.get(upstreamSocket)
    if (handshake) join(handshake, upstreamSocket, deps)
  })
  return exchange => {
    const { operation, upgrade, context } = exchange
    const upstream = operation?.target.kind === 'forward' ? deps.upstreams.get(operation.target.upstream) : undefined
    if (operation === undefined || upstream === undefined || upgrade === undefined) return refuse(exchange, 'INTERNAL')
    const { req, res } = context
    // What follows a handshake belongs to the WebSocket: a body would be read as something else behind the gateway.
    if (hasBody(exchange)) return refuse(exchange, 'BAD_REQUEST')
    const socket = upgrade.socket as Socket
    const path = upstreamPath(exchange, operation)
    const fields = outgoingHeaders(exchange, operation)
    const onTurn = (member: Member): void => {
      if (exchange.trace) exchange.trace.upstreamHost = member.host
      handshakes.set(req, { exchange, upstream, member, socket })
      req.url = path
      req.headers = upgradeHeaders(fields, member.host)
      res.detachSocket(socket)
      socket.once('close', () => upstream.giveBack(member))
      proxy.ws(req, socket, upgrade.head, { target, agent: agentTo(member, upstream) }, error => {
        if (exchange.upstreamStatus > 0 || exchange.finished) return
        const isLate = error instanceof HandshakeTimeout
        upstream.missed(member, { kind: isLate ? 'late' : 'unreachable', wasReused: false })
        exchange.upstreamFailure = isLate ? 'timeout' : 'connect'
        upstream.failed(exchange.upstreamFailure)
        res.assignSocket(socket)
        res.shouldKeepAlive = false
        deps.reply(exchange, refuse(exchange, isLate ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_UNREACHABLE'))
      })
    }
    const onBusy = (): void => {
      exchange.upstreamFailure = 'busy'
      upstream.failed('busy')
      deps.reply(exchange, refuseBusy(exchange))
    }
    const waiter = { onTurn, onBusy }
    socket.once('close', () => {
      upstream.leave(waiter)
      deps.finish(exchange, exchange.upstreamStatus || clientGone)
    })
    const member = upstream.take()
    if (member) onTurn(member)
    else if (!upstream.wait(waiter)) onBusy()
    return 'taken'
  }
}

/** Where `http-proxy` would connect to; the agent knows better. */
const target = { protocol: 'http:', host: 'localhost', port: 80 }

/** Connects as other requests to this member do. */
const agentTo = (member: Member, { options: { connectTimeoutMs } }: Upstream): Agent => {
  const agent = new nodeHttp.Agent()
  agent.createConnection = () => {
    const socket = member.open(undefined, () => clearTimeout(timer))
    const timer = setTimeout(() => socket.destroy(new Error('no connection within the time for it')), connectTimeoutMs)
    socket.once('close', () => clearTimeout(timer))
    return socket
  }
  return agent
}

class HandshakeTimeout extends Error {
  override readonly name = 'HandshakeTimeout'
}

/** As an object, since that is what `http-proxy` reads; the handshake's own fields are put back (RFC 6455 section 4.1). */
const upgradeHeaders = (fields: readonly string[], host: string): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    const before = headers[name]
    const separator = name === 'cookie' ? '; ' : ', '
    headers[name] = before === undefined ? (fields[i + 1] as string) : before + separator + fields[i + 1]
  }
  return { ...headers, host, connection: 'Upgrade', upgrade: 'websocket' }
}

/** Takes the place of the pipes by which http-proxy has joined the two: between what those carry nothing can be said. */
const join = ({ exchange, upstream, socket }: Handshake, upstreamSocket: Socket, deps: WebSocketDeps): void => {
  upstreamSocket.unpipe(socket)
  socket.unpipe(upstreamSocket)
  deps.webSockets.add(new WebSocketRelay(socket, upstreamSocket), {
    idleTimeoutMs: upstream.options.webSocketIdleTimeoutMs,
    hasTokenEnded: upstream.options.webSocketsOutliveTokens ? undefined : tokenCheckOf(exchange, deps.hasTokenEnded),
  })
}

/** Waits for the upstream's answer no longer than the client does, and marks it as the gateway's. */
const watchAnswer = (
  proxyReq: ClientRequest,
  { exchange, upstream, member, socket }: Handshake,
  onAccepted: (upstreamSocket: Socket) => void,
): void => {
  const sentAtMs = performance.now()
  const onClientGone = (): void => {
    upstream.failed('client_gone')
    proxyReq.destroy()
  }
  // Half a connection has no use for a handshake; Node keeps it until both halves are closed.
  const onClientEnd = (): void => void socket.destroy()
  const onAnswer = (answer: IncomingMessage): void => {
    socket.off('close', onClientGone).off('end', onClientEnd)
    exchange.upstreamStatus = answer.statusCode ?? 0
    exchange.upstreamMs = performance.now() - sentAtMs
    upstream.heard(member, exchange.upstreamStatus)
    upstream.answered(exchange.upstreamStatus, exchange.upstreamMs)
    addOwnFields(answer, exchange)
  }
  // On a WebSocket http-proxy takes the timeout off again.
  proxyReq.setTimeout(upstream.options.headersTimeoutMs, () => proxyReq.destroy(new HandshakeTimeout()))
  socket.once('close', onClientGone).once('end', onClientEnd)
  proxyReq.once('error', () => socket.off('close', onClientGone).off('end', onClientEnd))
  proxyReq.prependListener('upgrade', (answer: IncomingMessage, upstreamSocket: Socket) => {
    onAnswer(answer)
    onAccepted(upstreamSocket)
  })
  proxyReq.prependListener('response', (answer: IncomingMessage) => {
    onAnswer(answer)
    // A refusal that breaks off breaks off at the client too.
    answer.once('close', () => {
      if (!answer.complete) socket.destroy()
    })
  })
}

/** Puts the request id and the plan's fields on the upstream's answer, which http-proxy passes on. */
const addOwnFields = ({ headers }: IncomingMessage, { context, answerFields }: Exchange): void => {
  headers['x-request-id'] = context.id
  const { dropped, own } = mergeLimits(name => textOf(headers[name]), answerFields) ?? {
    dropped: [],
    own: answerFields,
  }
  for (const name of dropped) delete headers[name]
  for (let i = 0; i + 1 < own.length; i += 2) {
    const name = own[i] as string
    const isAdded = limitLists.includes(name) && headers[name] !== undefined
    headers[name] = isAdded ? `${headers[name]}, ${own[i + 1]}` : own[i + 1]
  }
}

/** Fields that are lists, in which the upstream's items stay. */
const limitLists: readonly string[] = ['ratelimit', 'ratelimit-policy']

const textOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join('') : value
