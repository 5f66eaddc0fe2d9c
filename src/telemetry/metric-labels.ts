import { reasonPhrases } from '../reason-phrases.ts'

/**
 * The label values of HTTP statuses. An upstream may answer with any status from 100 to 599, and each would be a series
 * of its own.
 */

/** `2xx` for 200: the closed set of the duration histograms. */
export const codeClass = (status: number): string => `${Math.floor(status / 100)}xx`

/** The registered statuses (RFC 9110 section 16.2.1), and 499: the client closed the connection. */
const named: ReadonlySet<number> = new Set([...reasonPhrases.keys(), 499])

/**
 * The status itself if it is registered, else its class, because a recipient knows nothing else of such a status
 * (section 15).
 */
export const codeLabel = (status: number): string => (named.has(status) ? String(status) : codeClass(status))

/** Every value that the label `code` can have. */
export const codeLabels: readonly string[] = [...new Set(Array.from({ length: 500 }, (_, i) => codeLabel(100 + i)))]

/**
 * One observation of a histogram's bucket, with the trace that it belongs to (OpenMetrics 1.0, section "Exemplars": its
 * labels have at most 128 characters; these have 40). Plain data: it crosses a process boundary.
 */
export interface Exemplar {
  /** The index of the bucket in the histogram, from 0. */
  readonly bucket: number
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The observed value, in the metric's unit. */
  readonly value: number
  /** Milliseconds since 1970. */
  readonly atMs: number
}
