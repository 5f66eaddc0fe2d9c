import type { Recorder } from '../recorder.ts'
import { type CollectorReport, createBatchSpanProcessor } from './batch-span-processor.ts'
import { createOtlpTransport } from './otlp-http-transport.ts'
import { isSampled } from './sampler.ts'
import type { Span } from './span.ts'
import type { TracingOptions } from './tracing-options.ts'

/** Records traces: which, and what becomes of them. Where there is none, nothing is recorded. */
export interface Tracer {
  /** @param isParentSampled whether whoever sent the request records it; undefined: the trace begins here */
  isSampled(traceId: string, isParentSampled: boolean | undefined): boolean
  /** Takes a span of a trace that is recorded. */
  record(span: Span): void
  /** Sends what has not been sent yet, as far as there is time for it. */
  close(): Promise<void>
}

export const openTracer = (
  { sampling, collector, exporter }: TracingOptions,
  recorder: Recorder,
  report: CollectorReport,
): Tracer => {
  const spans = createBatchSpanProcessor(exporter, createOtlpTransport(collector), recorder, report)
  return {
    isSampled: (traceId, isParentSampled) => isSampled(sampling, traceId, isParentSampled),
    record: spans.add,
    close: spans.close,
  }
}
