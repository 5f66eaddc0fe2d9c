/** Where forwarded operations go. */
export interface UpstreamOptions {
  readonly name: string
  /** Origins such as `http://127.0.0.1:9000`; at least one. */
  readonly targets: readonly string[]
  /** Longest wait for a connection. Default 5_000. Passing it yields 502 UPSTREAM_UNREACHABLE. */
  readonly connectTimeoutMs: number
  /** Longest wait for the response header, once the request is sent. Default 30_000. Passing it yields 504 UPSTREAM_TIMEOUT. */
  readonly headersTimeoutMs: number
  /**
   * Longest wait for the next piece of a body, either way. Default 300_000. Passing it yields 408 where the client sends no
   * more, 504 where the upstream takes no more, and breaks off an answer that has begun.
   */
  readonly bodyTimeoutMs: number
  /** Longest time from the request to the end of its answer; not for WebSockets and event streams. Default 3_600_000. */
  readonly totalTimeoutMs: number
}
