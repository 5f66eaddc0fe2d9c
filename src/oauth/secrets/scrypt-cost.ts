import type { ScryptJob } from './scrypt-queue.ts'

/** The parameters that decide how much work a scrypt run is (RFC 7914 section 2). */
export type ScryptCost = Pick<ScryptJob, 'ln' | 'r' | 'p'>

/** The cost of hashes that Sidegate makes: about 33 ms and 32 MiB for each run. */
export const usualCost: ScryptCost = { ln: 15, r: 8, p: 1 }

export const workOf = ({ ln, r, p }: ScryptCost): number => 2 ** ln * r * p

/** The cost with more work; undefined only if both are undefined. */
export const costlierOf = <Cost extends ScryptCost | undefined>(one: Cost, other: Cost): Cost => {
  if (one === undefined || other === undefined) return one ?? other
  return workOf(other) > workOf(one) ? other : one
}

/**
 * The parameters of a run whose work is the difference between `whole` and `done`, to within a sixteenth; undefined
 * if there is no difference. Its memory is between a sixteenth and a half of the memory of `whole`, so that the same
 * work takes about the same time.
 */
export const remainderOf = (done: ScryptCost, whole: ScryptCost): ScryptCost | undefined => {
  const { r } = whole
  const left = (workOf(whole) - workOf(done)) / r
  if (left < 1) return undefined
  const ln = Math.max(1, Math.min(whole.ln, Math.floor(Math.log2(left)) - 3))
  return { ln, r, p: Math.max(1, Math.round(left / 2 ** ln)) }
}
