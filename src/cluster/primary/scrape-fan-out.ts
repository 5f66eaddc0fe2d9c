import type { Aggregate } from '../../telemetry/aggregate.ts'
import type { Recorder } from '../../telemetry/recorder.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

/** Collects the metrics of all workers for a scrape, without waiting for a worker that hangs. */
export interface ScrapeFanOut {
  /** A worker has answered the report of this id. */
  reported(worker: string, id: number): void
  /** A worker has exited and will not answer. */
  gone(worker: string): void
  expose(format: 'text' | 'openmetrics'): ReturnType<Aggregate['expose']>
}

/** A worker that has not reported within this time hangs; its last report is used. */
const patienceMs = 100

export const createScrapeFanOut = (aggregate: Aggregate, recorder: Recorder, workers: Workers): ScrapeFanOut => {
  let lastId = 0
  const rounds = new Map<number, { readonly missing: Set<string>; readonly done: () => void }>()
  const leave = (worker: string, id: number): void => {
    const round = rounds.get(id)
    round?.missing.delete(worker)
    if (round?.missing.size === 0) round.done()
  }

  const gather = (): Promise<void> => {
    lastId++
    const id = lastId
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patienceMs)
    rounds.set(id, { missing: new Set(workers.names()), done: resolve })
    workers.tell({ type: 'report', id })
    return promise.finally(() => {
      clearTimeout(timer)
      rounds.delete(id)
    })
  }

  return {
    reported: leave,
    gone(worker) {
      for (const id of [...rounds.keys()]) leave(worker, id)
    },
    async expose(format) {
      await gather()
      const own = recorder.takeChanges()
      if (own) aggregate.apply('primary', own)
      return aggregate.expose(format)
    },
  }
}
