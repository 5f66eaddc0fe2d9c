import { createRandom } from '../../support/random.ts'

/** Choices that are the same in every run. */
export interface RandomSource {
  /** An integer from 0 to `below`, which is excluded. */
  int(below: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
}

export const createRandomSource = (seed: number): RandomSource => {
  const random = createRandom(seed)
  const int = (below: number): number => Math.floor(random() * below)
  return {
    int,
    chance: probability => random() < probability,
    pick: choices => {
      const picked = choices[int(choices.length)]
      if (picked === undefined) throw new RangeError('there is nothing to pick from')
      return picked
    },
  }
}
