import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { SidegateConfig } from '../config/load.ts'
import { createPodCounter } from '../stores/pods.ts'
import type { Workers } from './workers.ts'

/** Tells the workers how many pods share the store, so that their local shares of a plan add up to it. */
export interface PodWatch {
  close(): void
}

const tellEveryMs = 1000

export const createPodWatch = (config: SidegateConfig, workers: Workers): PodWatch => {
  if (config.pods !== 'auto' || config.store.kind !== 'redis') return { close: () => undefined }
  const counter = createPodCounter(config.store, `${hostname()}-${randomUUID()}`)
  const tell = (): void => workers.tell({ type: 'pods', count: counter.count(), index: counter.index() })
  const timer = setInterval(tell, tellEveryMs)
  return {
    close() {
      clearInterval(timer)
      counter.close()
    },
  }
}
