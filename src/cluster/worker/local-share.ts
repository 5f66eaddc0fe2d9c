import type { SidegateConfig, WorkerShare } from '../../app.ts'

/**
 * This worker's share of every plan while the shared count does not answer. The shares of all workers of all pods add
 * up to the plan.
 */
export interface LocalShare {
  now(): WorkerShare
  /**
   * @param count the number of pods
   * @param index the index of this pod, from 0
   */
  setPods(count: number, index: number): void
}

/** @param slot the slot of this worker in its pod, from 0 */
export const createLocalShare = (slot: number, { workers, pods }: SidegateConfig): LocalShare => {
  let count = pods === 'auto' ? 1 : pods
  let index: number | undefined
  return {
    now() {
      const of = workers * count
      if (count === 1) return { index: slot, of }
      // If the index of this pod is unknown, only a share rounded down is sure not to exceed the plan in total.
      return { index: index === undefined ? of - 1 : index * workers + slot, of }
    },
    setPods(newCount, newIndex) {
      count = newCount
      index = newIndex
    },
  }
}
