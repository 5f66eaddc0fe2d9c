import type { Span, SpanAttributes } from './span.ts'

/** Who exports: attributes of the resource, such as `service.name`. */
export type Resource = Readonly<Record<string, string>>

/**
 * Spans as the JSON of OTLP 1.x: `ExportTraceServiceRequest`, ids in hexadecimal, 64-bit numbers as text.
 * @param clockOffsetMs from `performance.now()` to milliseconds since 1970
 */
export const toOtlpJson = (spans: readonly Span[], resource: Resource, clockOffsetMs: number): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope: { name: 'sidegate' }, spans: spans.map(span => toOtlpSpan(span, clockOffsetMs)) }],
      },
    ],
  })

/** `SpanKind` of opentelemetry/proto/trace/v1/trace.proto. */
const kinds = { server: 2, client: 3 } as const satisfies Record<Span['kind'], number>
/** `STATUS_CODE_ERROR` there; one that is unset is left out. */
const failed = { status: { code: 2 } }

const toOtlpSpan = (span: Span, clockOffsetMs: number): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId !== undefined && { parentSpanId: span.parentId }),
  ...(span.traceState !== undefined && { traceState: span.traceState }),
  flags: 1, // sampled, or it would not be here
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: toNanoseconds(span.startedAtMs + clockOffsetMs),
  endTimeUnixNano: toNanoseconds(span.endedAtMs + clockOffsetMs),
  attributes: toAttributes(span.attributes),
  ...(span.isError && failed),
})

/** To the microsecond: that is what a double has room for since 1970. */
const toNanoseconds = (unixMs: number): string => `${Math.round(unixMs * 1000)}000`

const toAttributes = (attributes: SpanAttributes): readonly object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }],
  )
