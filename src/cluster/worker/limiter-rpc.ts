import type { BatchedCharge, BatchedVerdict } from '../../app.ts'
import type { WorkerMessage } from '../messages.ts'

/** Calls to the limiter of the primary (embedded store). The verdicts are matched to the calls by id. */
export interface LimiterRpc {
  /** Never rejects, because a worker whose primary has exited exits too. */
  ask(charges: readonly BatchedCharge[]): Promise<readonly BatchedVerdict[]>
  /** The primary has decided. */
  settle(id: number, verdicts: readonly BatchedVerdict[]): void
}

export const createLimiterRpc = (send: (message: WorkerMessage) => void): LimiterRpc => {
  const open = new Map<number, (verdicts: readonly BatchedVerdict[]) => void>()
  let lastId = 0
  return {
    ask: charges =>
      new Promise(resolve => {
        lastId++
        open.set(lastId, resolve)
        send({ type: 'charges', id: lastId, charges })
      }),
    settle(id, verdicts) {
      open.get(id)?.(verdicts)
      open.delete(id)
    },
  }
}
