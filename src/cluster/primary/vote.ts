import type { EncodedConfig } from '../messages.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

/** Whether all workers can serve a configuration: each builds it beside the one that it serves. */
export interface Vote {
  /** @returns why one cannot, in one line; undefined once every worker can, and then it is theirs to adopt or discard */
  begin(id: number, encodedConfig: EncodedConfig): Promise<string | undefined>
  record(worker: string, id: number, refusal: string | undefined): void
  /** A worker has gone; the one that replaces it begins with what is served then. */
  drop(worker: string): void
}

/** Many times what building takes on a busy machine: a worker that takes longer hangs. */
const patienceMs = 30_000

interface Round {
  readonly id: number
  readonly missing: Set<string>
  end(refusal: string | undefined): void
}

export const createVote = (workers: Pick<Workers, 'names' | 'tell'>): Vote => {
  let round: Round | undefined
  const leave = (worker: string): void => {
    round?.missing.delete(worker)
    if (round?.missing.size === 0) round.end(undefined)
  }
  return {
    async begin(id, encodedConfig) {
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      const timer = setTimeout(() => resolve(`a worker did not answer within ${patienceMs} ms`), patienceMs)
      round = { id, missing: new Set(workers.names()), end: resolve }
      workers.tell({ type: 'propose', id, config: encodedConfig })
      if (round.missing.size === 0) resolve(undefined)
      const refusal = await promise
      clearTimeout(timer)
      round = undefined
      return refusal
    },
    record(worker, id, refusal) {
      if (round?.id !== id) return
      if (refusal === undefined) leave(worker)
      else round.end(refusal)
    },
    drop: leave,
  }
}
