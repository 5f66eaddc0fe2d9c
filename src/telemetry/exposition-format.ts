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

interface MediaRange {
  /** In lower case, without parameters. */
  readonly type: string
  /** From 0, not acceptable, to 1. */
  readonly weight: number
}

/** Ranges whose weight cannot be parsed are left out. */
const parseAccept = (accept: string): readonly MediaRange[] =>
  withoutQuoted(accept.toLowerCase())
    .split(',')
    .flatMap(member => {
      const [type = '', ...parameters] = member.split(';').map(part => part.trim())
      const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
      return weightForm.test(weight) ? { type, weight: Number(weight) } : []
    })

/** Quoted strings may contain commas and semicolons. They are not used here. */
const withoutQuoted = (field: string): string => field.replace(/"(?:[^"\\]|\\.)*"/g, '')

/** RFC 9110 section 12.4.2. */
const weightForm = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** The weight of the first of these types, the most specific one, that the ranges contain. */
const weightOf = (ranges: readonly MediaRange[], types: readonly string[]): number => {
  for (const type of types) {
    const weights = ranges.filter(range => range.type === type).map(({ weight }) => weight)
    if (weights.length > 0) return Math.max(...weights)
  }
  return 0
}
