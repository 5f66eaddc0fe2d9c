import type { EncodedConfig } from '../messages.ts'
import type { Workers } from '../supervisor/worker-pool.ts'

/** Asks all workers whether they can serve a configuration: each builds it beside the one that it serves. */
export interface Vote {
  /**
   * @returns why a worker cannot, in one line; undefined if every worker can: then the caller sends `commit`, otherwise
   * `abort`
   */
  begin(id: number, encodedConfig: EncodedConfig): Promise<string | undefined>
  record(worker: string, id: number, refusal: string | undefined): void
  /** A worker has exited. Its replacement begins with the configuration that is served then. */
  drop(worker: string): void
}

/** Building takes a small part of this even on a busy machine, so a worker that takes longer hangs. */
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
