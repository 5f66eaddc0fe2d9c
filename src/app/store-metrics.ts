import type { StoreObserver } from '../stores/instrumented-store.ts'
import type { StoreUrl } from '../stores/store-url.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** Who is told. */
export interface StoreObserverDeps {
  readonly recorder: Recorder
  /** Told when the store stops answering, when it does so for another reason, and when it answers again. */
  readonly onStoreState: (what: 'store', up: boolean, reason: string | undefined) => void
}

/** What this process sees of the store: how long each operation takes, in seconds, and whether it answers. */
export const createStoreObserver = (
  { kind }: StoreUrl,
  { recorder, onStoreState }: StoreObserverDeps,
): StoreObserver => {
  const up = recorder.gauge('storeUp', [kind])
  let wasUp: boolean | undefined
  let lastReason: string | undefined
  up.set(1)
  return {
    answered: (operation, durationMs) =>
      recorder[histogramFor(operation)]('storeDuration', [kind, operation]).observe(durationMs / 1000),
    state(isUp, reason) {
      if (isUp === wasUp && reason === lastReason) return
      wasUp = isUp
      lastReason = reason
      up.set(isUp ? 1 : 0)
      onStoreState('store', isUp, reason)
    },
  }
}

/** What is asked all the time, whether there is work or not, would have every process report for ever. */
const histogramFor = (operation: string): 'histogram' | 'quietHistogram' =>
  operation === 'ping' || operation === 'feeds.ends' ? 'quietHistogram' : 'histogram'
