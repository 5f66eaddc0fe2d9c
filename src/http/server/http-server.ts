import { createServer, type Server, type Socket } from 'node:net'
import { DenseSet } from '../../dense-set.ts'
import { Connection, type ConnectionServer } from './connection.ts'
import type { HttpServerHandlers } from './handlers.ts'
import type { HttpServerOptions } from './options.ts'
import { type Ticked, TimeoutTicker } from './timeout-ticker.ts'
import { type HandshakeSource, TlsAcceptor } from './tls-acceptor.ts'

/**
 * An HTTP/1.1 server. It receives connections from the listeners that it creates, and the caller decides where these
 * listen.
 */
export interface HttpServer {
  /** A listener for this server's connections; it does not listen yet. A server may have several. */
  createListener(): Server
  /** Serves HTTP/1.1 on a connection: plain, or TLS after its handshake. */
  serve(socket: Socket): void
  /** Open connections, including the ones that use another protocol now. */
  openConnections(): number
  /** The largest number of open connections since the last call. */
  takeMostConnections(): number
  /** The number of connections accepted so far. */
  acceptedConnections(): number
  /** Calls back once, when another connection is accepted. A second call replaces the first. */
  onNextConnection(callback: () => void): void
  /** Whether any connection has bytes that wait to be sent. */
  isSending(): boolean
  /** Closes all connections at once. */
  closeAllConnections(): void
}

/** Shortest time between two evictions of idle connections, in milliseconds. */
const evictEveryMs = 1000

interface Entry extends Ticked {
  /** @returns whether it was idle, and is closed */
  closeIfIdle(): boolean
}

/** @param tls left out: plain HTTP */
export const createHttpServer = (
  options: HttpServerOptions,
  handlers: HttpServerHandlers,
  tls?: HandshakeSource,
): HttpServer => {
  const ticker = new TimeoutTicker<Entry>([
    options.headersTimeoutMs,
    options.requestTimeoutMs,
    options.keepAliveTimeoutMs,
    options.sendTimeoutMs,
  ])
  const sockets = new DenseSet<Socket>()
  let accepted = 0
  let most = 0
  let onAccepted: (() => void) | undefined

  const watch = (entry: Entry): void => ticker.add(entry)
  const unwatch = (entry: Entry): void => ticker.delete(entry)
  const acceptor =
    tls &&
    new TlsAcceptor(tls, {
      timeoutMs: options.headersTimeoutMs,
      onSecure: socket => serve(socket),
      onDropped: handlers.dropped,
      onWaiting: watch,
      onSettled: unwatch,
    })
  const context: ConnectionServer = {
    options,
    handlers,
    keepAliveSec: Math.floor(options.keepAliveTimeoutMs / 1000),
    onClosed: unwatch,
    expectSoon: () => ticker.expectSoon(),
  }
  const serve = (socket: Socket): void => watch(new Connection(socket, context))

  const evictIdle = createIdleEviction(ticker, () => handlers.dropped('evicted_idle'))
  const refuseFull = (): void => {
    handlers.dropped('limit')
    evictIdle()
  }
  const accept = (socket: Socket): void => {
    accepted++
    onAccepted?.()
    onAccepted = undefined
    if (sockets.size >= options.maxConnections) {
      socket.destroy()
      refuseFull()
      return
    }
    const entry = sockets.add(socket)
    if (sockets.size > most) most = sockets.size
    socket.once('close', () => sockets.remove(entry))
    if (acceptor) acceptor.accept(socket)
    else serve(socket)
  }
  if (tls) tls.onClientCaChange = () => retireClientCertificates(ticker, acceptor)
  return {
    createListener() {
      // A client may send its FIN with its request and still read (RFC 9112 section 9.6).
      const listener = createServer({ allowHalfOpen: true, noDelay: true }, accept)
      listener.maxConnections = options.maxConnections
      listener.on('drop', refuseFull)
      return listener
    },
    serve,
    openConnections: () => sockets.size,
    takeMostConnections() {
      const taken = most
      most = sockets.size
      return taken
    },
    acceptedConnections: () => accepted,
    onNextConnection(callback) {
      onAccepted = callback
    },
    isSending() {
      for (const entry of ticker) if (entry instanceof Connection && entry.socket.writableLength > 0) return true
      return false
    },
    closeAllConnections() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Closes connections of clients that showed a certificate, after the response under way. */
const retireClientCertificates = (entries: Iterable<Entry>, acceptor: TlsAcceptor | undefined): void => {
  for (const entry of entries) {
    if (entry instanceof Connection && acceptor?.hasClientCertificate(entry.socket)) entry.retire()
  }
}

/** Closes the idle connections, once in `evictEveryMs` at most: each call visits all connections. */
const createIdleEviction = (ticker: TimeoutTicker<Entry>, onEvicted: () => void): (() => void) => {
  let evictedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (nowMs - evictedAtMs < evictEveryMs) return
    evictedAtMs = nowMs
    ticker.visitAll(entry => {
      if (entry.closeIfIdle()) onEvicted()
    })
  }
}
