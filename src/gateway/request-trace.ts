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

/** The trace that a request belongs to, and its spans in the trace. Only if traces are recorded. */
export interface RequestTrace {
  readonly traceId: string
  /** The span of the client; undefined: the trace begins here. */
  readonly parentId: string | undefined
  /** The `tracestate` of other systems. */
  readonly state: string | undefined
  /** The span of the request. */
  readonly spanId: string
  readonly flags: number
  /** The span of the upstream round trip; set when it begins. */
  roundTrip: RoundTripSpan | undefined
  /** The host of the round trip, with the port if it is not the scheme's default; set with it. */
  upstreamHost: string | undefined
}

export interface RoundTripSpan {
  readonly spanId: string
  /** In the time of `performance.now()`. */
  readonly startedAtMs: number
}

/** Continues the trace of the request, or begins one. The tracer decides whether it is recorded. */
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

/**
 * The `traceparent` for the upstream with the span of the round trip, which is the same for all tries of the request.
 */
export const upstreamTraceparent = (trace: RequestTrace): string => {
  trace.roundTrip ??= { spanId: newSpanId(), startedAtMs: performance.now() }
  return toTraceparent(trace.traceId, trace.roundTrip.spanId, trace.flags)
}

export const isRecorded = ({ flags }: RequestTrace): boolean => (flags & sampledFlag) !== 0

/** The trace id by which a collector finds the trace. Undefined if the trace is not recorded. */
export const recordedIdOf = (trace: RequestTrace): string | undefined => (isRecorded(trace) ? trace.traceId : undefined)
