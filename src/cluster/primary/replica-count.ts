import { countPods, type ReplicaCounter } from '../../app/primary.ts'
import type { SidegateConfig } from '../../app.ts'
import { type Poll, poll } from '../../poll.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

/** Tells the workers how many pods share the store, so that their local shares of a plan add up to it. */
export interface ReplicaCount {
  close(): void
}

const lookEveryMs = 1000

export const createReplicaCount = async (config: SidegateConfig, workers: Workers): Promise<ReplicaCount> => {
  const counter = await countPods(config)
  if (counter === undefined) return { close: () => undefined }
  const telling = reportReplicas(counter, workers)
  return {
    close() {
      telling.close()
      counter.close()
    },
  }
}

/** Tells the workers when the number has changed, and when there is a worker that has not been told. */
export const reportReplicas = (
  counter: Pick<ReplicaCounter, 'count' | 'index'>,
  workers: Pick<Workers, 'names' | 'tell'>,
  everyMs = lookEveryMs,
): Poll => {
  let told: string | undefined
  return poll(() => {
    const [count, index] = [counter.count(), counter.index()]
    const now = [count, index, ...workers.names()].join()
    if (now === told) return
    told = now
    workers.tell({ type: 'pods', count, index })
  }, everyMs)
}
