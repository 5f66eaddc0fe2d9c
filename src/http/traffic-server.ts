import type http from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type { GatewayErrorCode } from '../errors.ts'
import { nodeHttp } from '../node-http.ts'
import { answerUnderWay } from './answer-under-way.ts'
import { answerClientError, refuseSocket } from './client-error.ts'
import { dropListenersAtEnd } from './last-heard.ts'
import { watchLateRequests } from './late-requests.ts'
import { isEnding } from './lingering-end.ts'
import { createNewcomers, type Newcomers } from './newcomers.ts'
import { createQuietWatch } from './quiet-watch.ts'
import { makeRoom } from './room.ts'
import type { Tls } from './tls.ts'

export interface TrafficServerOptions {
  /** Longest time for a request's header. Default 10_000. Passing it yields 408. */
  readonly headersTimeoutMs: number
  /** Longest time for a whole request, body included. Default 300_000. Passing it yields 408. */
  readonly requestTimeoutMs: number
  /** How long an idle connection is kept. Default 75_000: longer than what load balancers keep theirs. */
  readonly keepAliveTimeoutMs: number
  /** Longest time for which a client takes nothing of its answer. Default 60_000. Passing it ends the connection. */
  readonly sendTimeoutMs: number
  /** Most bytes of a request's header. Default 16_384. Passing it yields 431. */
  readonly maxHeaderBytes: number
  /** Most fields of a request's header. Default 100. Passing it yields 431. */
  readonly maxHeaderFields: number
  /** Most connections at a time, of this process. Default 20_000. One more is closed at once, and idle ones make room. */
  readonly maxConnections: number
}

export const defaultTrafficServerOptions: TrafficServerOptions = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
  sendTimeoutMs: 60_000,
  maxHeaderBytes: 16_384,
  maxHeaderFields: 100,
  maxConnections: 20_000,
}

/**
 * Why a connection was not served on: there were too many, it had no request then and made room for others, its TLS handshake
 * failed, a request took too long to come, its bytes were no request, or its client took nothing of an answer.
 */
export type DropReason = 'full' | 'room' | 'tls' | 'timeout' | 'invalid' | 'stalled'

export interface TrafficHandlers {
  request(req: IncomingMessage, res: ServerResponse): void
  /** A WebSocket handshake; other upgrades are answered as plain requests. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Bytes that are no request were refused with this code; nothing else hears of them. */
  refused(code: GatewayErrorCode): void
  /** A connection was not served on. Where its client went by itself nothing is said. */
  dropped(reason: DropReason): void
}

export interface TrafficServer {
  readonly server: http.Server | https.Server
  /** Whoever accepts connections for this server has them wait here. */
  readonly newcomers: Newcomers
}

/**
 * Sockets in: an HTTP/1.1 server with every limit set on purpose. It listens where the caller says.
 * @param tls left out: plain HTTP
 */
export const createTrafficServer = (
  options: TrafficServerOptions,
  handlers: TrafficHandlers,
  tls?: Tls,
): TrafficServer => {
  const limits: http.ServerOptions = {
    headersTimeout: options.headersTimeoutMs,
    requestTimeout: options.requestTimeoutMs,
    // Ours is the one below: Node's would take a timer for each connection, three times a request.
    keepAliveTimeout: 0,
    // Nobody waits for the end of a body that no field announces.
    optimizeEmptyRequests: true,
    // Node's own looks at who is late are those where ours cannot be had.
    connectionsCheckingInterval: 1000,
    maxHeaderSize: options.maxHeaderBytes,
    noDelay: true,
    // A missing Host is refused as everything else is, with a problem and a request id.
    requireHostHeader: false,
    shouldUpgradeCallback: isWebSocket,
  }
  const server = tls ? createSecureServer(tls, limits, handlers) : nodeHttp.createServer(limits)
  server.maxHeadersCount = options.maxHeaderFields
  const quiet = createQuietWatch({ idleMs: options.keepAliveTimeoutMs, stalledMs: options.sendTimeoutMs }, () =>
    handlers.dropped('stalled'),
  )
  server.on(tls ? 'secureConnection' : 'connection', quiet.add)
  server.on('connection', dropListenersAtEnd)
  server.on('secureConnection', dropListenersAtEnd)
  server.maxConnections = options.maxConnections
  const newcomers = createNewcomers({
    timeoutMs: options.headersTimeoutMs,
    isSecure: tls !== undefined,
    onLate: () => handlers.dropped('timeout'),
  })
  newcomers.receive(server)
  const dropForRoom = (): void => handlers.dropped('room')
  server.on('drop', makeRoom(server, newcomers, dropForRoom))
  server.on('drop', () => handlers.dropped('full'))
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    // It came behind a request whose answer is the last of the connection, and could only be half of that one's body.
    if (res.socket === null && isEnding(req.socket)) return
    tellIdleTime(res, options.keepAliveTimeoutMs)
    handlers.request(req, res)
  }
  server.on('request', onRequest)
  // With a listener Node leaves it to us to say "100 Continue", so that an early refusal comes without one.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('upgrade', (req, socket, head) => {
    quiet.upgraded(socket)
    handlers.upgrade(req, socket, head)
  })
  server.on('connect', (_req, socket) => refuseSocket(socket, 'NOT_IMPLEMENTED', handlers))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerClientError(error, socket, handlers))
  watchLateRequests(server, socket => answerClientError({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket, handlers))
  return { server, newcomers }
}

const createSecureServer = (tls: Tls, limits: http.ServerOptions, handlers: TrafficHandlers): https.Server => {
  const handshakeTimeout = limits.headersTimeout
  const server = https.createServer({ ...tls.serverOptions, ...limits, ...(handshakeTimeout && { handshakeTimeout }) })
  tls.renew(server)
  // Node would call a failed handshake a bad request, and its answer would be bytes that the client cannot read.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    socket.destroy()
    if (error.code !== 'ECONNRESET') handlers.dropped('tls')
  })
  return server
}

/** For `Keep-Alive: timeout`, by which clients know how long a connection is good for. */
const tellIdleTime = (res: ServerResponse, idleMs: number): void => {
  const response = res as ServerResponse & { _keepAliveTimeout?: number }
  response._keepAliveTimeout = idleMs
}

/**
 * RFC 6455 section 4.1: a handshake is a GET. Another method that asks for it is a plain request, body and all; so is one
 * that comes before the connection's last answer is out, which must not be handed the socket meanwhile, or one in HTTP/1.0. A
 * server is free not to upgrade, and there it must not (RFC 9110 section 7.8).
 */
const isWebSocket = (req: IncomingMessage): boolean =>
  req.method === 'GET' &&
  req.httpVersionMinor > 0 &&
  req.headers.upgrade?.toLowerCase() === 'websocket' &&
  !answerUnderWay(req.socket)
