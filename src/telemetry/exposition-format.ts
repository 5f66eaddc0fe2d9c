/** Prometheus text 0.0.4 or OpenMetrics 1.0. */
export type ExpositionFormat = 'text' | 'openmetrics'

/**
 * Which of the two a scraper's `Accept` prefers (RFC 9110 section 12.5.1). OpenMetrics is for those who name it, and no less
 * than text: a range with a `*`, nothing, and what cannot be read get text, and so do those who want neither.
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
  /** 0 to 1; 0 is not wanted. */
  readonly weight: number
}

/** Ranges whose weight cannot be read are left out. */
const parseAccept = (accept: string): readonly MediaRange[] =>
  withoutQuoted(accept.toLowerCase())
    .split(',')
    .flatMap(member => {
      const [type = '', ...parameters] = member.split(';').map(part => part.trim())
      const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
      return weightForm.test(weight) ? { type, weight: Number(weight) } : []
    })

/** In quoted texts, which are of no use here, there may be commas and semicolons. */
const withoutQuoted = (field: string): string => field.replace(/"(?:[^"\\]|\\.)*"/g, '')

/** RFC 9110 section 12.4.2. */
const weightForm = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Of the first of these types, the most exact one, that is among the ranges. */
const weightOf = (ranges: readonly MediaRange[], types: readonly string[]): number => {
  for (const type of types) {
    const weights = ranges.filter(range => range.type === type).map(({ weight }) => weight)
    if (weights.length > 0) return Math.max(...weights)
  }
  return 0
}
