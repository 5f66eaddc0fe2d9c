import type { Span, SpanAttributes } from './span.ts'

/** The exporting program, as attributes of the resource, such as `service.name`. */
export type Resource = Readonly<Record<string, string>>

/**
 * Spans as the JSON of OTLP 1.x: an `ExportTraceServiceRequest`, with ids in hexadecimal and 64-bit numbers as text.
 * @param clockOffsetMs the difference between `performance.now()` and milliseconds since 1970
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
/** `STATUS_CODE_ERROR` of the same file; an unset status is left out. */
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

/** To the microsecond, which is the precision of a double for times since 1970. */
const toNanoseconds = (unixMs: number): string => `${Math.round(unixMs * 1000)}000`

const toAttributes = (attributes: SpanAttributes): readonly object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }],
  )
