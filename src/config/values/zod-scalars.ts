import { z } from 'zod'
import { hasBalancedDirections } from '../../oauth/directional-controls.ts'
import { parseRate, type Rate } from '../../plans/plan.ts'
import { Secret } from '../../secret.ts'
import { parseDurationMs, parseSizeBytes } from './units.ts'

/** Building blocks of the schema: texts that are parsed once, each with a message that gives the correction. */

/** Any text. */
export const text = () =>
  z.string({
    error: issue => (issue.input === undefined ? 'it is required' : 'must be text; put it in quotes'),
  })

/** A text that `parse` converts to a value. If it returns `undefined`, the fault is `expectation`. */
export const parsedText = <T>(parse: (text: string) => T | undefined, expectation: string) =>
  z.string({ error: expectation }).transform((input, context): T => {
    const value = parse(input)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: expectation })
    return z.NEVER
  })

/** A text that must match the pattern. */
export const textLike = (pattern: RegExp, expectation: string) =>
  checkedText(input => (pattern.test(input) ? undefined : expectation))

/** A text for which `faultOf` returns no fault. */
export const checkedText = (faultOf: (text: string) => string | undefined) =>
  text().check(context => {
    const message = faultOf(context.value)
    if (message) context.issues.push({ code: 'custom', input: undefined, message })
  })

/** One of several words. */
export const oneOf = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, { error: `must be ${listed(words)}` })

/** One of several words, where an operator may expect others that are not supported. */
export const oneOfYet = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, { error: `must be ${listed(words)}; this release has no other` })

/** True or false, also as text, because the value of an environment variable is a text. */
export const flag = () =>
  z.union([z.boolean(), z.enum(['true', 'false']).transform(word => word === 'true')], {
    error: 'must be true or false',
  })

/** `a`, `a or b`, `a, b or c`. */
const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

/** Milliseconds from `5s` and the like, a day at most, because timers cannot wait longer than 24 days. */
export const durationMs = (leastMs: number) =>
  parsedText(input => {
    const ms = parseDurationMs(input)
    return ms !== undefined && ms >= leastMs && ms <= 86_400_000 ? ms : undefined
  }, `must be a duration from ${leastMs}ms to 1d, such as 250ms, 5s or 10m`)

/** Bytes from `16KiB` and the like, between these two. */
export const sizeBytes = (least: string, most: string) => {
  const [leastBytes = 0, mostBytes = 0] = [least, most].map(parseSizeBytes)
  return parsedText(input => {
    const bytes = parseSizeBytes(input)
    return bytes !== undefined && bytes >= leastBytes && bytes <= mostBytes ? bytes : undefined
  }, `must be a size from ${least} to ${most}, such as ${least}, in B, KiB, MiB, GiB or TiB`)
}

/** Whole seconds from `10m` and the like, because protocols transmit lifetimes in seconds (RFC 6749 section 5.1). */
export const lifetimeSec = (leastSec: number, mostSec = 3_650 * 86_400) =>
  parsedText(input => {
    const sec = (parseDurationMs(input) ?? Number.NaN) / 1_000
    return Number.isInteger(sec) && sec >= leastSec && sec <= mostSec ? sec : undefined
  }, `must be a duration in whole seconds, ${leastSec}s to ${mostSec}s, such as 60s, 10m, 2h or 30d`)

export const rate = () =>
  parsedText(parseRate, 'must be requests per period, such as 100/1second or 5000/2hours (second, minute, hour or day)')

/** A number of requests, also as text, or a rate. */
export const burst = () => {
  const error = `must be a number of requests from 1 to ${mostAtOnce}, such as 20, or a rate, such as 20/1second (second, minute, hour or day)`
  const fromText = parsedText((input): number | Rate | undefined => {
    if (!/^\d{1,9}$/.test(input)) return parseRate(input)
    return Number(input) >= 1 && Number(input) <= mostAtOnce ? Number(input) : undefined
  }, error)
  return z.union([z.int({ error }).min(1, { error }).max(mostAtOnce, { error }), fromText], { error })
}

const mostAtOnce = 100_000_000

/** A secret of printable ASCII (RFC 6749 appendix A.2). */
export const secretText = () =>
  textLike(/^[\x20-\x7e]+$/, 'a secret is at least one character of printable ASCII (RFC 6749 appendix A)').transform(
    input => new Secret(input),
  )

/** `auto` or a whole number, also as text, because the value of an environment variable is a text. */
export const autoOrCount = (most: number) => {
  const error = `must be auto or a whole number from 1 to ${most}`
  const isInRange = (count: number): boolean => count >= 1 && count <= most
  const fromText = parsedText(input => {
    if (input === 'auto') return 'auto' as const
    return /^\d{1,9}$/.test(input) && isInRange(Number(input)) ? Number(input) : undefined
  }, error)
  return z.union([z.int({ error }).min(1, { error }).max(most, { error }), fromText], { error })
}

/** A whole number, also as text, because the value of an environment variable is a text. */
export const count = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  const fromText = parsedText(input => {
    const number = /^\d{1,9}$/.test(input) ? Number(input) : Number.NaN
    return number >= least && number <= most ? number : undefined
  }, error)
  return z.union([z.int({ error }).min(least, { error }).max(most, { error }), fromText], { error })
}

/** A name that becomes a metric label, a header value or a key of the store. */
export const name = () =>
  textLike(
    /^[A-Za-z0-9][\w.-]{0,63}$/,
    'a name is 1 to 64 letters, digits, dots, hyphens and underscores, a letter or digit first',
  )

/** A line that is shown to users. */
export const line = () =>
  checkedText(input => {
    if (!/^[^\p{Cc}]{1,200}$/u.test(input)) return 'must be 1 to 200 characters on one line'
    return hasBalancedDirections(input)
      ? undefined
      : 'must close each bidirectional control character (U+202A to U+202E, U+2066 to U+2069) that it opens; remove them'
  })
