import type { Recorder } from '../recorder.ts'
import { type CollectorReport, createBatchSpanProcessor } from './batch-span-processor.ts'
import { createOtlpTransport } from './otlp-http-transport.ts'
import { isSampled } from './sampler.ts'
import type { Span } from './span.ts'
import type { TracingOptions } from './tracing-options.ts'

/** Decides which traces are recorded, and exports their spans. If there is no tracer, nothing is recorded. */
export interface Tracer {
  /** @param isParentSampled whether the sender of the request records the trace; undefined: the trace begins here */
  isSampled(traceId: string, isParentSampled: boolean | undefined): boolean
  /** Queues a span of a recorded trace. */
  record(span: Span): void
  /** Sends the spans that have not been sent yet, as far as there is time for it. */
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
