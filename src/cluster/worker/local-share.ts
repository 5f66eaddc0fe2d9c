import type { SidegateConfig, WorkerShare } from '../../app.ts'

/**
 * Which share of every plan this worker holds while the shared count is away: one of those that all workers of all pods
 * hold, so that together they are the plan.
 */
export interface LocalShare {
  now(): WorkerShare
  /**
   * @param count how many pods there are
   * @param index which of them this is, from 0
   */
  setPods(count: number, index: number): void
}

/** @param slot of this worker among those of its pod, from 0 */
export const createLocalShare = (slot: number, { workers, pods }: SidegateConfig): LocalShare => {
  let count = pods === 'auto' ? 1 : pods
  let index: number | undefined
  return {
    now() {
      const of = workers * count
      if (count === 1) return { index: slot, of }
      // Without knowing which pod this is, only a share rounded down is sure not to add up to more than the plan.
      return { index: index === undefined ? of - 1 : index * workers + slot, of }
    },
    setPods(newCount, newIndex) {
      count = newCount
      index = newIndex
    },
  }
}
