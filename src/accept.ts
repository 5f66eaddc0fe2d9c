/** One member of `Accept` or `Accept-Language` (RFC 9110 section 12.5). */
export interface AcceptedValue {
  /** The media range or language range, in lower case and without parameters. */
  readonly value: string
  /** From 0 to 1. 0 means: not acceptable. */
  readonly weight: number
}

/**
 * Parses the field value of `Accept` or `Accept-Language`. A member whose weight is invalid is left out.
 * @param maxMembers later members are ignored; left out: all are read
 */
export const parseAccept = (field: string, maxMembers?: number): readonly AcceptedValue[] =>
  withoutQuotedStrings(field.toLowerCase())
    .split(',', maxMembers)
    .flatMap(member => {
      const [value = '', ...parameters] = member.split(';').map(part => part.trim())
      const weight = parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? '1'
      return weightForm.test(weight) ? { value, weight: Number(weight) } : []
    })

/**
 * The weight of the first of these values that the field names: list the most specific value first. 0 if it names
 * none.
 */
export const weightOf = (accepted: readonly AcceptedValue[], values: readonly string[]): number => {
  for (const wanted of values) {
    const weights = accepted.filter(({ value }) => value === wanted).map(({ weight }) => weight)
    if (weights.length > 0) return Math.max(...weights)
  }
  return 0
}

/** A quoted string is the value of a parameter that is not needed here, and may hold commas and semicolons. */
const withoutQuotedStrings = (field: string): string => field.replace(/"(?:[^"\\]|\\.)*"/g, '')

/** RFC 9110 section 12.4.2. */
const weightForm = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/
