import {
  newSpanId,
  newTraceId,
  parseTraceparent,
  parseTracestate,
  sampledFlag,
  toTraceparent,
} from '../http/peer/trace-context.ts'
import type { RequestFields } from '../http/server/request-fields.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'

/** The trace that a request belongs to, and its spans in it. There is none where traces are not recorded. */
export interface RequestTrace {
  readonly traceId: string
  /** The span of whoever sent the request; undefined: the trace begins here. */
  readonly parentId: string | undefined
  /** What others say of the trace. */
  readonly state: string | undefined
  /** The span of the request. */
  readonly spanId: string
  readonly flags: number
  /** The span of the upstream round trip; set when it begins. */
  roundTrip: RoundTripSpan | undefined
  /** Where it goes, with the port where that is not the scheme's; set with it. */
  upstreamHost: string | undefined
}

export interface RoundTripSpan {
  readonly spanId: string
  /** By `performance.now()`. */
  readonly startedAtMs: number
}

/** The trace goes on that the request came with, or one begins; the tracer decides whether it is recorded. */
export const beginTrace = (tracer: Tracer, { traceparent, tracestate }: RequestFields): RequestTrace => {
  const parent = parseTraceparent(traceparent)
  const traceId = parent?.traceId ?? newTraceId()
  const isSampled = tracer.isSampled(traceId, parent && (parent.flags & sampledFlag) !== 0)
  const others = (parent?.flags ?? 0) & ~sampledFlag
  return {
    traceId,
    parentId: parent?.parentId,
    state: parent && parseTracestate(tracestate),
    spanId: newSpanId(),
    flags: isSampled ? others | sampledFlag : others,
    roundTrip: undefined,
    upstreamHost: undefined,
  }
}

/** The `traceparent` of the upstream: the round trip's span, the same however often the request is tried. */
export const upstreamTraceparent = (trace: RequestTrace): string => {
  trace.roundTrip ??= { spanId: newSpanId(), startedAtMs: performance.now() }
  return toTraceparent(trace.traceId, trace.roundTrip.spanId, trace.flags)
}

export const isRecorded = ({ flags }: RequestTrace): boolean => (flags & sampledFlag) !== 0

/** The id that a collector finds the trace by; undefined where it is not recorded. */
export const recordedIdOf = (trace: RequestTrace): string | undefined => (isRecorded(trace) ? trace.traceId : undefined)
