/**
 * One observation of a histogram's bucket, with the trace that shows how it came about (OpenMetrics 1.0, section
 * "Exemplars": its labels have at most 128 characters; these have 40). Plain data: it crosses a process boundary.
 */
export interface Exemplar {
  /** Which bucket of the histogram, the first being 0. */
  readonly bucket: number
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** What was observed, in the metric's unit. */
  readonly value: number
  /** By the system's clock. */
  readonly atMs: number
}
