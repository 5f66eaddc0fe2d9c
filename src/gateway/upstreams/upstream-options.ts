import type { ClientTlsOptions } from '../../http/client/tls-context.ts'

/** A service that operations are forwarded to. */
export interface UpstreamOptions {
  readonly name: string
  /** Origins such as `http://127.0.0.1:9000`, or sockets such as `unix:/run/service.sock`; at least one. */
  readonly targets: readonly string[]
  /** How often the names of targets are resolved. Default 10_000. */
  readonly dnsIntervalMs: number
  /** Longest wait for a connection, its TLS included. Default 5_000. Passing it yields 502 UPSTREAM_UNREACHABLE. */
  readonly connectTimeoutMs: number
  /**
   * Longest wait for the response header after the request was sent. Default 30_000. Passing it yields 504
   * UPSTREAM_TIMEOUT.
   */
  readonly headersTimeoutMs: number
  /**
   * Longest wait for the next piece of a body, in either direction. Default 300_000. Passing it yields 408 if the
   * client stops sending, 504 if the upstream stops reading, and breaks off a response that has begun.
   */
  readonly bodyTimeoutMs: number
  /**
   * Longest time from the request to the end of its response; not for WebSockets and event streams. Default 3_600_000.
   * Passing it yields 408 if the client is still sending, else 504, and breaks off a response that has begun.
   */
  readonly totalTimeoutMs: number
  /**
   * Longest time without a byte in either direction of a WebSocket. Default 300_000. Passing it closes the WebSocket
   * with 1001.
   */
  readonly webSocketIdleTimeoutMs: number
  /**
   * Whether a WebSocket stays open when its token has expired or was revoked. Default false: it is closed with 1008.
   */
  readonly webSocketsOutliveTokens: boolean
  /** Whether an event stream stays open when its token has expired or was revoked. Default false: it breaks off. */
  readonly eventStreamsOutliveTokens: boolean
  /** Most requests and WebSockets at a time, in this process. Left out: no limit. */
  readonly maxInFlight?: number
  /** Most requests that wait for room, in this process. Default 100. More are 503 UPSTREAM_BUSY. */
  readonly maxQueue: number
  /** Longest wait for room. Default 1_000. Passing it yields 503 UPSTREAM_BUSY. */
  readonly queueTimeoutMs: number
  /** Most retries, in percent of the requests; 3 a second are always allowed. Default 20. 0: none. */
  readonly retryBudgetPercent: number
  readonly outlierDetection: OutlierDetectionOptions
  /** Left out: no health checks. */
  readonly health?: HealthOptions
  /** For https targets. Left out: servers are verified by the public CAs, and the gateway sends no certificate. */
  readonly tls?: ClientTlsOptions
}

/** When an endpoint that fails is ejected, so that it gets no requests for a while. */
export interface OutlierDetectionOptions {
  /** Consecutive failures after which it is ejected. Default 5. 0: never. */
  readonly failures: number
  /**
   * How long the first ejection lasts. Default 10_000. Twice as long each time that the endpoint fails again right
   * after it.
   */
  readonly timeMs: number
  /** How long an ejection lasts at most. Default 300_000. */
  readonly maxTimeMs: number
  /** How many of the endpoints may be ejected at a time, in percent. Default 50. The last one never is. */
  readonly maxEjectionPercent: number
}

/** Health checks: every endpoint is requested regularly, whether clients send requests or not. */
export interface HealthOptions {
  /** The path of the GET request. A status from 200 to 399 is good. */
  readonly path: string
  /** From the end of one check to the next. Default 10_000. Each worker checks at its own times. */
  readonly intervalMs: number
  /** Longest time for a check. Default 2_000. */
  readonly timeoutMs: number
  /** Consecutive good results after which an endpoint is healthy again. Default 2. */
  readonly healthy: number
  /** Consecutive failures after which it is unhealthy. Default 3. */
  readonly unhealthy: number
}
