/** One worker's part of something that all workers share: part `index`, counted from 0, of `of` parts. */
export interface WorkerShare {
  readonly index: number
  readonly of: number
}

/**
 * One part of a whole number. Each part is rounded down and the remainder goes to the first parts, one to each. So the parts
 * add up to the whole and differ by 1 at most. A part beyond the last one is 0.
 */
export const shareOf = (whole: number, { index, of }: WorkerShare): number =>
  index < of ? Math.floor(whole / of) + (index < whole % of ? 1 : 0) : 0

/** What each of several workers may take without regard to its index: the last part, but at least 1, so that each can work. */
export const evenShareOf = (whole: number, workers: number): number =>
  Math.max(1, shareOf(whole, { index: workers - 1, of: workers }))
