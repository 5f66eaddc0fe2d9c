import type { SidegateConfig } from '../config/load.ts'
import { createPodCounter } from '../stores/pods.ts'
import type { Workers } from './workers.ts'

/** Tells the workers how many pods share the store, so that their local shares of a plan add up to it. */
export interface PodWatch {
  close(): Promise<void>
}

export const createPodWatch = async (config: SidegateConfig, workers: Workers): Promise<PodWatch> => {
  if (config.pods !== 'auto' || config.store.kind !== 'redis') return { close: () => Promise.resolve() }
  const counter = createPodCounter(config.store, place => workers.tell({ type: 'pods', ...place }))
  return { close: () => counter.close() }
}
