import type { z } from 'zod'
import { ownMember } from '../../own-member.ts'
import { type Fault, type Path, startsWith } from '../source/diagnostic.ts'
import type { Parse } from './cached-parse.ts'
import { findMeantKey, toFaults } from './zod-issues.ts'

/** One mapping of the configuration that is checked by itself: a client, an operation, or the top level of the file. */
export interface ConfigSection<T> {
  readonly path: Path
  readonly value: T
  /**
   * Paths that had a fault of their own and have their default here. A cross check that reads one of them is skipped,
   * so that one mistake leads to one problem.
   */
  readonly invalidPaths: InvalidPaths
}

/** Keys from the section down to the invalid value; a list counts as one value. */
export type InvalidPaths = readonly (readonly string[])[]

/** Whether a field, such as `tokens.code.lifetime`, or a part of it, or a mapping around it, is invalid. */
export const isInvalid = (invalidPaths: InvalidPaths, field: string): boolean => {
  if (invalidPaths.length === 0) return false
  const place = field.split('.')
  return invalidPaths.some(other => startsWith(other, place) || startsWith(place, other))
}

export interface ParsedSection<T> {
  readonly faults: readonly Fault[]
  /** Undefined if a required field is invalid. */
  readonly section: ConfigSection<T> | undefined
}

/**
 * Checks one mapping against its schema. If fields are invalid, the rest is still parsed, so that cross checks can
 * report other problems at the same time.
 * @param known faults found before, whose values are missing from `raw`
 * @param parse a function with the result of the schema's `safeParse` that may be faster
 */
export const parseSection = <S extends z.ZodObject>(
  schema: S,
  raw: unknown,
  path: Path,
  known: readonly Fault[],
  parse: Parse<S> = raw => schema.safeParse(raw),
): ParsedSection<z.output<S>> => {
  const first = parse(raw)
  if (first.success && known.length === 0)
    return { faults: none, section: { path, value: first.data, invalidPaths: none } }
  const inside = known.filter(fault => startsWith(fault.path, path))
  const issues = first.success ? [] : first.error.issues
  const faults = issues
    .flatMap(issue => toFaults(issue, schema, raw, path))
    .filter(fault => !inside.some(earlier => startsWith(earlier.path, fault.path)))
  const invalidPaths = [...inside, ...faults].flatMap(fault => invalidPathsOf(fault, schema, path))
  if (first.success) return { faults, section: { path, value: first.data, invalidPaths } }
  return { faults, section: parseRest(schema, raw, path, invalidPaths) }
}

/** One shared empty list. */
const none: readonly never[] = []

/** The path of a fault; for a misspelt key also the key that was probably meant; `x` for `x_file`. */
const invalidPathsOf = (fault: Fault, schema: z.ZodObject, base: Path): InvalidPaths => {
  const place = keysBelow(fault.path, base)
  const above = place.slice(0, -1)
  const last = place.at(-1)
  if (last === undefined) return []
  const meant = fault.at === 'key' ? findMeantKey(last, schema, above) : undefined
  return [last, last.replace(/_file$/, ''), ...(meant ? [meant] : [])].map(key => [...above, key])
}

/** The keys of a path as far as it leads through mappings. */
const keysBelow = (path: readonly PropertyKey[], base: Path): readonly string[] => {
  const below = path.slice(base.length)
  const end = below.findIndex(step => typeof step === 'number')
  return below.slice(0, end < 0 ? undefined : end).map(String)
}

/**
 * Parses the mapping without its invalid values. If one of them is required, the mapping around it is left out as well.
 */
const parseRest = <S extends z.ZodObject>(
  schema: S,
  raw: unknown,
  path: Path,
  invalidPaths: InvalidPaths,
): ConfigSection<z.output<S>> | undefined => {
  const rest = without(raw, invalidPaths)
  const { data, error } = schema.safeParse(rest)
  if (!error) return { path, value: data, invalidPaths }
  const more = error.issues
    .map(issue => keysBelow(issue.path, []))
    .map(place => (isGiven(rest, place) ? place : place.slice(0, -1)))
  return more.some(place => place.length === 0) ? undefined : parseRest(schema, raw, path, [...invalidPaths, ...more])
}

const isGiven = (value: unknown, [key, ...inside]: readonly string[]): boolean => {
  if (value === undefined || key === undefined) return value !== undefined
  return isGiven(ownMember(value as Readonly<Record<string, unknown>>, key), inside)
}

const without = (value: unknown, places: InvalidPaths): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || places.length === 0) return value
  const kept = Object.entries(value).filter(([key]) => !places.some(place => place.length === 1 && place[0] === key))
  const inside = (key: string): InvalidPaths => places.filter(place => place[0] === key).map(place => place.slice(1))
  return Object.fromEntries(kept.map(([key, item]) => [key, without(item, inside(key))]))
}
