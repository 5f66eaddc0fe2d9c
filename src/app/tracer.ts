import type { SampleNewTrace } from '../http/peer/trace-context.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { CollectorReport } from '../telemetry/tracing/batch-span-processor.ts'
import { isSampled } from '../telemetry/tracing/sampler.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { readNewTraceSampling, readTracingOptions } from '../telemetry/tracing/tracing-options.ts'

/**
 * The tracer that the environment variables of OpenTelemetry configure; undefined if they configure none, and then no
 * code for it is loaded.
 * @throws Error one line for a person: which variable is wrong
 */
export const findTracer = async (
  env: NodeJS.ProcessEnv,
  { recorder, log }: { readonly recorder: Recorder; readonly log: Logger },
): Promise<Tracer | undefined> => {
  const options = readTracingOptions(env)
  if (options === undefined) return undefined
  const { openTracer } = await import('../telemetry/tracing/tracer.ts')
  return openTracer(options, recorder, reportOn(log, options.collector.endpoint.host))
}

/** Logs only the host, because the rest of the URL may contain a key. */
const reportOn =
  (log: Logger, host: string): CollectorReport =>
  (isTaking, reason) => {
    if (isTaking) log.info({ event: 'collector_up', host }, 'the collector takes traces again')
    else log.warn({ event: 'collector_down', host, reason }, 'the collector takes no traces: some may be lost')
  }

/**
 * Samples traces that begin at a gateway which records none itself, by the same variables, because services behind it
 * may follow the decision.
 * @throws Error one line for a person: which variable is wrong
 */
export const newTraceSampler = (env: NodeJS.ProcessEnv): SampleNewTrace => {
  const sampling = readNewTraceSampling(env)
  return sampling.ratio === 1 ? () => true : traceId => isSampled(sampling, traceId, undefined)
}
