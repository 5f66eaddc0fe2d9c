/** Which traces are recorded. */
export interface Sampling {
  /** Of the traces that begin here: from 0, none, to 1, all. */
  readonly ratio: number
  /** Whether a trace that began elsewhere is recorded where it is recorded there; else `ratio` decides of it too. */
  readonly followsParent: boolean
}

/**
 * Whether a trace is recorded: the same for all its spans, and in every process that asks with the same ratio.
 * @param isParentSampled undefined where the trace begins here
 */
export const isSampled = (
  { ratio, followsParent }: Sampling,
  traceId: string,
  isParentSampled: boolean | undefined,
): boolean => (followsParent && isParentSampled !== undefined ? isParentSampled : fractionOf(traceId) >= 1 - ratio)

/** From 0 to below 1: the last 56 bits of a trace id are random (W3C Trace Context level 2, section 3.2.2.3.2). */
const fractionOf = (traceId: string): number => Number.parseInt(traceId.slice(-14), 16) / 2 ** 56
