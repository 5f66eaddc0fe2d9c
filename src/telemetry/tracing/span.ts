/** One ended piece of work in a trace, as it is exported. Nothing of a query, a header or a body stands in it. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Undefined: the trace begins here. */
  readonly parentId: string | undefined
  /** The `tracestate` that came with the trace. */
  readonly traceState: string | undefined
  /** `server`: a request answered. `client`: one made of another service. */
  readonly kind: 'server' | 'client'
  /** Of few values: a method and a configured path. */
  readonly name: string
  /** By `performance.now()`. */
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** By OpenTelemetry's names; what is undefined is left out. */
  readonly attributes: SpanAttributes
  /** Whether the work failed. */
  readonly isError: boolean
}

export type SpanAttributes = Readonly<Record<string, string | number | undefined>>
