import { countPods } from '../app/primary.ts'
import type { SidegateConfig } from '../app.ts'
import type { Workers } from './workers.ts'

/** Tells the workers how many pods share the store, so that their local shares of a plan add up to it. */
export interface PodWatch {
  close(): void
}

const tellEveryMs = 1000

export const createPodWatch = async (config: SidegateConfig, workers: Workers): Promise<PodWatch> => {
  const counter = await countPods(config)
  if (counter === undefined) return { close: () => undefined }
  const tell = (): void => workers.tell({ type: 'pods', count: counter.count(), index: counter.index() })
  const timer = setInterval(tell, tellEveryMs)
  return {
    close() {
      clearInterval(timer)
      counter.close()
    },
  }
}
