import { codeClass } from '../../telemetry/metric-labels.ts'
import type { HistogramCell, Recorder } from '../../telemetry/recorder.ts'
import { getOrCreate } from '../get-or-create.ts'
import { type EndpointState, endpointStates } from './endpoint.ts'
import type { UpstreamFailure } from './upstream-failure.ts'

/** What is counted of one upstream. */
export interface UpstreamMetrics {
  answered(status: number, durationMs: number): void
  failed(reason: UpstreamFailure): void
  retry(decision: 'allowed' | 'denied'): void
  members(state: EndpointState, difference: number): void
  queued(difference: number): void
}

export const createUpstreamMetrics = (name: string, recorder: Recorder): UpstreamMetrics => {
  const durations = new Map<number, HistogramCell>()
  const queue = recorder.gauge('upstreamQueue', [name])
  // Shown from the start. Not set to 0: after a reload others may still wait.
  queue.add(0)
  const members = new Map(endpointStates.map(state => [state, recorder.gauge('upstreamMembers', [name, state])]))
  return {
    answered: (status, durationMs) =>
      getOrCreate(durations, status, () => recorder.histogram('upstreamDuration', [name, codeClass(status)])).observe(
        durationMs / 1000,
      ),
    failed: reason => recorder.counter('upstreamErrors', [name, reason]).add(),
    retry: decision => recorder.counter('upstreamRetries', [name, decision]).add(),
    members: (state, difference) => members.get(state)?.add(difference),
    queued: difference => queue.add(difference),
  }
}
