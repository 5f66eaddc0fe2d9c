import type { z } from 'zod'
import { findMeantKey, toFaults } from './issues.ts'
import { type Fault, type Path, startsWith } from './source/problem.ts'

/** One mapping of the configuration that is checked by itself: a client, an operation, the head of the file. */
export interface Element<T> {
  readonly path: Path
  readonly value: T
  /**
   * Fields that had a fault of their own and have their default here. A cross check that reads one of them waits, so
   * that one mistake is one problem.
   */
  readonly broken: ReadonlySet<string>
}

export interface ParsedElement<T> {
  readonly faults: readonly Fault[]
  /** Undefined where a field that cannot be done without is broken. */
  readonly element: Element<T> | undefined
}

/**
 * Checks one mapping against its schema. Where fields are broken, the rest is still parsed, so that cross checks can
 * say in the same go what else is wrong.
 * @param known faults found before, whose values are missing from `raw`
 */
export const parseElement = <S extends z.ZodObject>(
  schema: S,
  raw: unknown,
  path: Path,
  known: readonly Fault[],
): ParsedElement<z.output<S>> => {
  const inside = known.filter(fault => startsWith(fault.path, path))
  const first = schema.safeParse(raw)
  const issues = first.success ? [] : first.error.issues
  const faults = issues
    .flatMap(issue => toFaults(issue, schema, raw, path))
    .filter(fault => !inside.some(earlier => startsWith(earlier.path, fault.path)))
  const broken = new Set([...inside, ...faults].flatMap(fault => brokenFields(fault, schema, path)))
  const value = first.success ? first.data : parseRest(schema, raw, broken)
  return { faults, element: value && { path, value, broken } }
}

/** The field a fault is in; for a misspelt one also the field that was meant; `x` for `x_file`. */
const brokenFields = (fault: Fault, schema: z.ZodObject, base: Path): readonly string[] => {
  const field = fault.path[base.length]
  if (typeof field !== 'string') return []
  const meant = fault.at === 'key' ? findMeantKey(field, schema, []) : undefined
  return [field, field.replace(/_file$/, ''), ...(meant ? [meant] : [])]
}

const parseRest = <S extends z.ZodObject>(
  schema: S,
  raw: unknown,
  broken: ReadonlySet<string>,
): z.output<S> | undefined => {
  if (typeof raw !== 'object' || raw === null) return undefined
  const rest = Object.fromEntries(Object.entries(raw).filter(([key]) => !broken.has(key)))
  return schema.safeParse(rest).data
}
