import type { z } from 'zod'
import { ownMember, setOwnMember } from '../../own-member.ts'

/** Parses one mapping, as `safeParse` of its schema does. */
export type Parse<S extends z.ZodObject> = (raw: unknown) => z.ZodSafeParseResult<z.output<S>>

/**
 * Parses many mappings by one strict schema, such as a hundred thousand clients that set five of its forty keys, often
 * to the same values as the client before. Defaults and repeated values are parsed once and shared. No key of the
 * schema may depend on another.
 */
export const createCachedParse = <S extends z.ZodObject>(schema: S): Parse<S> => {
  const { fields, defaults, required } = toFields(schema)

  /** Undefined if a field is invalid. */
  const parseFields = (raw: Mapping): Record<string, unknown> | undefined => {
    for (const key of required) if (!Object.hasOwn(raw, key)) return undefined
    const data = { ...defaults }
    for (const key of Object.keys(raw)) {
      const value = fields.get(key)?.(ownMember(raw, key))
      if (!value?.success) return undefined
      setOwnMember(data, key, value.data)
    }
    return data
  }
  return raw => {
    const data = isMapping(raw) ? parseFields(raw) : undefined
    // Parses again with the whole schema for its error messages.
    return data ? { success: true, data: data as z.output<S> } : schema.safeParse(raw)
  }
}

type Mapping = Readonly<Record<string, unknown>>

const isMapping = (raw: unknown): raw is Mapping => typeof raw === 'object' && raw !== null && !Array.isArray(raw)

interface Fields {
  readonly fields: ReadonlyMap<string, ParseField>
  /** The parsed values of the keys that are left out, unless undefined. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Keys that cannot be left out. */
  readonly required: readonly string[]
}

type ParseField = (raw: unknown) => z.ZodSafeParseResult<unknown>

const toFields = ({ shape }: z.ZodObject): Fields => {
  const fields = Object.entries(shape).map(([key, field]) => [key, remembering(field as z.ZodType)] as const)
  const leftOut = fields.map(([key, parse]) => [key, parse(undefined)] as const)
  return {
    fields: new Map(fields),
    defaults: Object.fromEntries(leftOut.flatMap(([key, { data }]) => (data === undefined ? [] : [[key, data]]))),
    required: leftOut.flatMap(([key, { success }]) => (success ? [] : [key])),
  }
}

/** Parses a value unless it equals the previous one. */
const remembering = (field: z.ZodType): ParseField => {
  let before: { readonly raw: unknown; readonly result: z.ZodSafeParseResult<unknown> } | undefined
  return raw => {
    if (!before || !isSame(raw, before.raw)) before = { raw, result: field.safeParse(raw) }
    return before.result
  }
}

/** Compares lists by their items. Mappings never count as equal. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (Array.isArray(one) && Array.isArray(other) && areSame(one, other))

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index])
