import type { ClientTlsOptions } from '../../http/client/tls-context.ts'

/** Where forwarded operations go. */
export interface UpstreamOptions {
  readonly name: string
  /** Origins such as `http://127.0.0.1:9000`, or sockets such as `unix:/run/service.sock`; at least one. */
  readonly targets: readonly string[]
  /** How often the names of targets are looked up. Default 10_000. */
  readonly dnsIntervalMs: number
  /** Longest wait for a connection, its TLS included. Default 5_000. Passing it yields 502 UPSTREAM_UNREACHABLE. */
  readonly connectTimeoutMs: number
  /** Longest wait for the response header, once the request is sent. Default 30_000. Passing it yields 504 UPSTREAM_TIMEOUT. */
  readonly headersTimeoutMs: number
  /**
   * Longest wait for the next piece of a body, either way. Default 300_000. Passing it yields 408 where the client sends no
   * more, 504 where the upstream takes no more, and breaks off an answer that has begun.
   */
  readonly bodyTimeoutMs: number
  /**
   * Longest time from the request to the end of its answer; not for WebSockets and event streams. Default 3_600_000. Passing
   * it yields 408 where the client is still sending, else 504, and breaks off an answer that has begun.
   */
  readonly totalTimeoutMs: number
  /** Longest silence of both sides of a WebSocket. Default 300_000. Passing it closes it with 1001. */
  readonly webSocketIdleTimeoutMs: number
  /** Whether a WebSocket stays open when the token that opened it has ended. Default false: it is closed with 1008. */
  readonly webSocketsOutliveTokens: boolean
  /** Whether an event stream goes on when the token that asked for it has ended. Default false: it breaks off. */
  readonly eventStreamsOutliveTokens: boolean
  /** Most requests and WebSockets at a time, of this process. Left out: no limit. */
  readonly maxInFlight?: number
  /** Most requests that wait for room, of this process. Default 100. More are 503 UPSTREAM_BUSY. */
  readonly maxQueue: number
  /** Longest wait for room. Default 1_000. Passing it yields 503 UPSTREAM_BUSY. */
  readonly queueTimeoutMs: number
  /** Most retries, in percent of the requests; 3 a second are always allowed. Default 20. 0: none. */
  readonly retryBudgetPercent: number
  readonly outlierDetection: OutlierDetectionOptions
  /** Left out: no endpoint is asked for anything but what callers ask. */
  readonly health?: HealthOptions
  /** For https targets. Left out: the public CAs vouch for them, and no certificate is shown. */
  readonly tls?: ClientTlsOptions
}

/** When an endpoint that fails is left alone for a while. */
export interface OutlierDetectionOptions {
  /** Failures in a row after which it is. Default 5. 0: never. */
  readonly failures: number
  /** How long, the first time. Default 10_000. Twice as long each time that it fails again as soon as it is back. */
  readonly timeMs: number
  /** How long at most. Default 300_000. */
  readonly maxTimeMs: number
  /** How many of the endpoints at a time, in percent. Default 50. The last one is never. */
  readonly maxEjectionPercent: number
}

/** Active checks: every endpoint is asked, whether there are requests or not. */
export interface HealthOptions {
  /** What is asked for, by GET. 200 to 399 is good. */
  readonly path: string
  /** From the end of one check to the next. Default 10_000; each worker asks at its own moments. */
  readonly intervalMs: number
  /** Longest time for a check. Default 2_000. */
  readonly timeoutMs: number
  /** Good answers in a row that make an endpoint healthy again. Default 2. */
  readonly healthy: number
  /** Failures in a row that make it unhealthy. Default 3. */
  readonly unhealthy: number
}
