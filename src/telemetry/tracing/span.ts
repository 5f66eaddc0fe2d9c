/** One ended operation of a trace, as it is exported. Contains nothing of a query, a header or a body. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Undefined: the trace begins here. */
  readonly parentId: string | undefined
  /** The `tracestate` that was received with the trace. */
  readonly traceState: string | undefined
  /** `server`: a request that Sidegate answered. `client`: a request to another service. */
  readonly kind: 'server' | 'client'
  /** A name with few values: a method and a configured path. */
  readonly name: string
  /** By `performance.now()`. */
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** Attributes by OpenTelemetry's names; undefined ones are left out. */
  readonly attributes: SpanAttributes
  /** Whether the operation failed. */
  readonly isError: boolean
}

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>
