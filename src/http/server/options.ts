/**
 * Limits and timeouts of an HTTP server. A timeout may be late by one tick, which is a quarter of the shortest timeout
 * or 1 s.
 */
export interface HttpServerOptions {
  /** Longest time for a request's header. Default 10_000. Passing it yields 408. */
  readonly headersTimeoutMs: number
  /** Longest time for a whole request, body included. Default 300_000. Passing it yields 408. */
  readonly requestTimeoutMs: number
  /** How long an idle connection is kept. Default 75_000: longer than what load balancers keep theirs. */
  readonly keepAliveTimeoutMs: number
  /** Longest time in which a client reads nothing of its response. Default 60_000. Passing it closes the connection. */
  readonly sendTimeoutMs: number
  /** Most bytes of a request's header. Default 16_384. Passing it yields 431. */
  readonly maxHeaderBytes: number
  /** Most fields of a request's header. Default 100. Passing it yields 431. */
  readonly maxHeaderFields: number
  /**
   * Most connections at a time, of this process. Default 20_000. One more is closed at once, and idle ones are evicted.
   */
  readonly maxConnections: number
}

export const defaultHttpServerOptions: HttpServerOptions = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
  sendTimeoutMs: 60_000,
  maxHeaderBytes: 16_384,
  maxHeaderFields: 100,
  maxConnections: 20_000,
}

/**
 * Why the server closed a connection: there were too many, it was idle and was evicted for another, its TLS handshake
 * failed, a request took too long to arrive, its bytes were invalid, or its client read nothing of a response.
 */
export type DropReason = 'limit' | 'evicted_idle' | 'tls' | 'timeout' | 'invalid' | 'write_stalled'
