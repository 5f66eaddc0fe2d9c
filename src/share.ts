/** One worker's part of something that all workers share: part `index`, counted from 0, of `of` parts. */
export interface WorkerShare {
  readonly index: number
  readonly of: number
}

/**
 * One part of a whole number. Each part is rounded down, and the first parts get one each of the remainder, so that
 * the parts add up to the whole and differ by 1 at most. A part beyond the last one is 0.
 */
export const shareOf = (whole: number, { index, of }: WorkerShare): number =>
  index < of ? Math.floor(whole / of) + (index < whole % of ? 1 : 0) : 0

/** The part that each of several workers may take, whatever its index: the smallest part, but at least 1. */
export const evenShareOf = (whole: number, workers: number): number =>
  Math.max(1, shareOf(whole, { index: workers - 1, of: workers }))
