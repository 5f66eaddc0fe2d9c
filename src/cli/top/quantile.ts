/** Cumulative counts by upper bound, `+Inf` included. */
export type Buckets = ReadonlyMap<number, number>

/** A duration, as precise as a histogram. */
export interface Quantile {
  readonly sec: number
  /** The duration is longer than the last bound, which is `sec`. */
  readonly isBeyond: boolean
}

/**
 * Like `histogram_quantile` of Prometheus: linear within a bucket. Undefined if there are no observations. Invalid
 * bounds and counts are skipped.
 */
export const quantileOf = (share: number, buckets: Buckets): Quantile | undefined => {
  const bounds = [...buckets].filter(isBucket).sort(([one], [other]) => one - other)
  const rank = share * (bounds.at(-1)?.[1] ?? 0)
  if (!(rank > 0)) return undefined
  let below = { bound: 0, count: 0 }
  for (const [bound, count] of bounds) {
    if (count >= rank) return withinBucket(rank, below, { bound, count })
    below = { bound, count }
  }
  return undefined
}

const isBucket = ([bound, count]: readonly [number, number]): boolean => bound >= 0 && Number.isFinite(count)

interface Bound {
  readonly bound: number
  readonly count: number
}

const withinBucket = (rank: number, below: Bound, { bound, count }: Bound): Quantile => {
  if (bound === Infinity) return { sec: below.bound, isBeyond: true }
  const share = (rank - below.count) / (count - below.count)
  return { sec: below.bound + (bound - below.bound) * share, isBeyond: false }
}
