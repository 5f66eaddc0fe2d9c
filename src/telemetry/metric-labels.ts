import { reasonPhrases } from '../reason-phrases.ts'

/** Statuses as metrics have them. An upstream may answer any from 100 to 599, and each would be a series of its own. */

/** `2xx` for 200: the closed set of the duration histograms. */
export const codeClass = (status: number): string => `${Math.floor(status / 100)}xx`

/** Those that are registered (RFC 9110 section 16.2.1), and 499: the client left. */
const named: ReadonlySet<number> = new Set([...reasonPhrases.keys(), 499])

/** The status itself, where it is one with a name; else its class, which is all that anybody knows of it (section 15). */
export const codeLabel = (status: number): string => (named.has(status) ? String(status) : codeClass(status))

/** Every `code` that there can be. */
export const codeLabels: readonly string[] = [...new Set(Array.from({ length: 500 }, (_, i) => codeLabel(100 + i)))]

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
