import type { StoreObserver } from '../stores/instrumented-store.ts'
import type { StoreUrl } from '../stores/store-url.ts'
import type { Recorder } from '../telemetry/recorder.ts'

/** The receivers of the observations. */
export interface StoreObserverDeps {
  readonly recorder: Recorder
  /** Called when the store stops answering, again for each new reason, and when it answers again. */
  readonly onStoreState: (what: 'store', up: boolean, reason: string | undefined) => void
}

/** Records how long each operation of the store takes, in seconds, and whether the store answers. */
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

/**
 * Operations that run periodically even without traffic must not cause reports of their own, or an idle process would
 * report for ever.
 */
const histogramFor = (operation: string): 'histogram' | 'quietHistogram' =>
  operation === 'ping' || operation === 'feeds.ends' ? 'quietHistogram' : 'histogram'
