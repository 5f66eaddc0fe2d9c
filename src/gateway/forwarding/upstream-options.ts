/** Where forwarded operations go. */
export interface UpstreamOptions {
  readonly name: string
  /** Origins such as `http://127.0.0.1:9000`; at least one. */
  readonly targets: readonly string[]
  /** Longest wait for a connection. Default 5_000. Passing it yields 502 UPSTREAM_UNREACHABLE. */
  readonly connectTimeoutMs: number
  /** Longest wait for the response header, once the request is sent. Default 30_000. Passing it yields 504 UPSTREAM_TIMEOUT. */
  readonly headersTimeoutMs: number
  /** Longest silence inside a response body. Default 300_000. Passing it breaks the response off. */
  readonly bodyTimeoutMs: number
}
