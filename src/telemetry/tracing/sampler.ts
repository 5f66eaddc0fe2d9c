/** The rule by which traces are recorded. */
export interface Sampling {
  /** The share of the traces that begin here: from 0, none, to 1, all. */
  readonly ratio: number
  /** Whether the parent's decision applies to a trace that began elsewhere; if not, `ratio` applies to it too. */
  readonly followsParent: boolean
}

/**
 * Whether a trace is recorded. The result is the same for all its spans, and in every process with the same ratio.
 * @param isParentSampled undefined if the trace begins here
 */
export const isSampled = (
  { ratio, followsParent }: Sampling,
  traceId: string,
  isParentSampled: boolean | undefined,
): boolean => (followsParent && isParentSampled !== undefined ? isParentSampled : fractionOf(traceId) >= 1 - ratio)

/**
 * A number from 0 to below 1: the last 56 bits of a trace id are random (W3C Trace Context level 2, section 3.2.2.3.2).
 */
const fractionOf = (traceId: string): number => Number.parseInt(traceId.slice(-14), 16) / 2 ** 56
