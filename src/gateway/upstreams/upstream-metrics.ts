import { codeClass } from '../../telemetry/metric-labels.ts'
import type { HistogramCell, Recorder } from '../../telemetry/recorder.ts'
import { getOrCreate } from '../get-or-create.ts'
import { type EndpointState, endpointStates } from './endpoint.ts'
import type { UpstreamFailure } from './upstream-failure.ts'

/** The metrics of one upstream. */
export interface UpstreamMetrics {
  countResponse(status: number, durationMs: number): void
  countFailure(reason: UpstreamFailure): void
  countRetry(decision: 'allowed' | 'denied'): void
  endpoints(state: EndpointState, difference: number): void
  queued(difference: number): void
}

export const createUpstreamMetrics = (name: string, recorder: Recorder): UpstreamMetrics => {
  const durations = new Map<number, HistogramCell>()
  const queue = recorder.gauge('upstreamQueue', [name])
  // The series is present from the start. It is not set to 0, because after a reload other requests may still wait.
  queue.add(0)
  const endpoints = new Map(endpointStates.map(state => [state, recorder.gauge('upstreamMembers', [name, state])]))
  return {
    countResponse: (status, durationMs) =>
      getOrCreate(durations, status, () => recorder.histogram('upstreamDuration', [name, codeClass(status)])).observe(
        durationMs / 1000,
      ),
    countFailure: reason => recorder.counter('upstreamErrors', [name, reason]).add(),
    countRetry: decision => recorder.counter('upstreamRetries', [name, decision]).add(),
    endpoints: (state, difference) => endpoints.get(state)?.add(difference),
    queued: difference => queue.add(difference),
  }
}
