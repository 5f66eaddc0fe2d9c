import { parseAccept, weightOf } from '../accept.ts'

/** Prometheus text 0.0.4 or OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics'

/**
 * The format that a scraper's `Accept` prefers (RFC 9110 section 12.5.1). OpenMetrics is chosen if the header names it
 * with at least the weight of text. A range with a `*`, an empty header, a header that cannot be parsed, and one that
 * accepts neither format get text.
 */
export const chooseFormat = (accept: string | undefined): ExpositionFormat => {
  const ranges = parseAccept(accept ?? '')
  const openMetrics = weightOf(ranges, ['application/openmetrics-text'])
  const text = weightOf(ranges, ['text/plain', 'text/*', '*/*'])
  return openMetrics > 0 && openMetrics >= text ? 'openmetrics' : 'text'
}
