import { z } from 'zod'

/** Parses one mapping, as `safeParse` of its schema does. */
export type Parse<S extends z.ZodObject> = (raw: unknown) => z.ZodSafeParseResult<z.output<S>>

/**
 * Parses many mappings by one strict schema, such as a hundred thousand clients that give five of its forty keys: what
 * those with the same keys leave out is parsed once, and shared by them. No key of the schema may depend on another.
 */
export const createSparseParse = <S extends z.ZodObject>(schema: S): Parse<S> => {
  const kinds = new Map<string, Kind<S>>()
  let last: Kind<S> = { keys: [], seen: 0 }
  return raw => {
    const keys = keysOf(raw)
    // Most often they are those of the mapping before.
    if (!isSame(keys, last.keys)) last = findKind(kinds, keys)
    last.seen++
    if (last.seen === worthwhile) last.parse = parserOfGiven(schema, keys)
    return last.parse?.(raw) ?? schema.safeParse(raw)
  }
}

/** So many mappings take as long to parse as their parser takes to make. */
const worthwhile = 250

/** The mappings that give the same keys. */
interface Kind<S extends z.ZodObject> {
  readonly keys: readonly string[]
  seen: number
  /** Left out: not yet made. */
  parse?: GivenParse<S> | undefined
}

/** Undefined from it: something is wrong, and the whole schema says what. */
type GivenParse<S extends z.ZodObject> = (raw: unknown) => z.ZodSafeParseSuccess<z.output<S>> | undefined

const findKind = <S extends z.ZodObject>(kinds: Map<string, Kind<S>>, keys: readonly string[]): Kind<S> => {
  const name = JSON.stringify(keys)
  const known = kinds.get(name)
  if (known) return known
  const kind: Kind<S> = { keys, seen: 0 }
  kinds.set(name, kind)
  return kind
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index])

const keysOf = (raw: unknown): readonly string[] => (typeof raw === 'object' && raw !== null ? Object.keys(raw) : [])

/** Undefined where mappings with these keys lack one that they cannot do without. */
const parserOfGiven = <S extends z.ZodObject>(schema: S, keys: readonly string[]): GivenParse<S> | undefined => {
  const { true: given = [], false: left = [] } = Object.groupBy(Object.entries(schema.shape), ([key]) =>
    keys.includes(key) ? 'true' : 'false',
  )
  const defaults = z.strictObject(Object.fromEntries(left)).safeParse({})
  if (!defaults.success) return undefined
  const own = z.strictObject(Object.fromEntries(given))
  return raw => {
    const { success, data } = own.safeParse(raw)
    return success ? { success, data: { ...defaults.data, ...data } as z.output<S> } : undefined
  }
}
