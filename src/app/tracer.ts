import type { SampleNewTrace } from '../http/peer/trace-context.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { CollectorReport } from '../telemetry/tracing/batch-span-processor.ts'
import { isSampled } from '../telemetry/tracing/sampler.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { readNewTraceSampling, readTracingOptions } from '../telemetry/tracing/tracing-options.ts'

/**
 * Where traces are recorded, by the variables of OpenTelemetry; undefined where they are not, and then nothing of it is loaded.
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

/** Names the host alone: a key may stand in the rest of the address. */
const reportOn =
  (log: Logger, host: string): CollectorReport =>
  (isTaking, reason) => {
    if (isTaking) log.info({ event: 'collector_up', host }, 'the collector takes traces again')
    else log.warn({ event: 'collector_down', host, reason }, 'the collector takes no traces: some may be lost')
  }

/**
 * Of traces that begin at a gateway that records none: by the same variables, since those behind it may follow.
 * @throws Error one line for a person: which variable is wrong
 */
export const newTraceSampler = (env: NodeJS.ProcessEnv): SampleNewTrace => {
  const sampling = readNewTraceSampling(env)
  return sampling.ratio === 1 ? () => true : traceId => isSampled(sampling, traceId, undefined)
}
