import type { z } from 'zod'
import { clientSchema, userSchema } from '../schema/clients.ts'
import { groupingSchema, operationSchema } from '../schema/groupings.ts'
import { defaultPlans, planSchema } from '../schema/plans.ts'
import { loginSchema, topLevelSchema } from '../schema/top-level.ts'
import { upstreamSchema } from '../schema/upstreams.ts'
import type { Fault, Path } from '../source/diagnostic.ts'
import { name } from '../values/zod-scalars.ts'
import { createCachedParse, type Parse } from './cached-parse.ts'
import { type ConfigSection, type InvalidPaths, isInvalid, parseSection } from './config-section.ts'

export type ParsedTopLevel = z.output<typeof topLevelSchema>
export type ParsedLogin = z.output<typeof loginSchema>
export type ParsedPlan = z.output<typeof planSchema>
export type ParsedGrouping = z.output<typeof groupingSchema>
export type ParsedOperation = z.output<typeof operationSchema>
export type ParsedUpstream = z.output<typeof upstreamSchema>
export type ParsedClient = z.output<typeof clientSchema>
export type ParsedSecret = ParsedClient['client_secrets'][number]
export type ParsedUser = z.output<typeof userSchema>

/** A section whose key is its name. */
export interface Named<T> extends ConfigSection<T> {
  readonly name: string
}

/** An operation and the grouping it belongs to. */
export interface GroupedOperation extends ConfigSection<ParsedOperation> {
  readonly grouping: ConfigSection<ParsedGrouping>
}

/** The configuration with each part checked by itself. The cross checks read it, and the result is built from it. */
export interface ParsedConfig {
  readonly topLevel: ConfigSection<ParsedTopLevel>
  readonly login: ConfigSection<ParsedLogin>
  readonly plans: readonly Named<ParsedPlan>[]
  readonly groupings: readonly ConfigSection<ParsedGrouping>[]
  readonly operations: readonly GroupedOperation[]
  readonly upstreams: readonly Named<ParsedUpstream>[]
  readonly clients: readonly ConfigSection<ParsedClient>[]
  readonly users: readonly ConfigSection<ParsedUser>[]
  /**
   * Every name that the file gives to a plan or an upstream, even if its section is invalid, so that a reference to it
   * is not reported as well.
   */
  readonly planNames: readonly string[]
  readonly upstreamNames: readonly string[]
  /** Whether every operation of the file is in `operations`. */
  readonly hasAllOperations: boolean
}

/**
 * Checks every part of the file by itself.
 * @param known faults found before, whose values are missing from `tree`; they are not repeated
 */
export const parseConfig = (
  tree: unknown,
  known: readonly Fault[],
): { readonly parsed: ParsedConfig; readonly faults: readonly Fault[] } => {
  const faults: Fault[] = []
  const reader = createReader(known, fault => faults.push(fault))
  const root = reader.mapping(tree, [])
  const login = reader.mapping(root.login, ['login'])
  const plans = reader.mapping(root.plans ?? defaultPlans, ['plans'])
  const upstreams = reader.mapping(root.upstreams, ['upstreams'])
  const groupings = reader.sections(groupingSchema, root.groupings, ['groupings'])
  const operations = groupings.flatMap(grouping => readOperations(reader, grouping))
  const parsed: ParsedConfig = {
    topLevel: reader.section(topLevelSchema, root, []),
    login: reader.section(loginSchema, login, ['login']),
    plans: reader.named(planSchema, plans, ['plans']),
    groupings,
    operations,
    upstreams: reader.named(upstreamSchema, upstreams, ['upstreams']),
    clients: reader.sections(clientSchema, root.clients, ['clients']),
    users: reader.sections(userSchema, login.users, ['login', 'users']),
    planNames: Object.keys(plans),
    upstreamNames: Object.keys(upstreams),
    hasAllOperations: [...known, ...faults].every(fault => fault.path[0] !== 'groupings'),
  }
  return { parsed, faults }
}

const readOperations = (reader: Reader, grouping: ConfigSection<ParsedGrouping>): readonly GroupedOperation[] =>
  reader
    .sections(operationSchema, grouping.value.operations, [...grouping.path, 'operations'])
    .map(operation => ({ ...operation, invalidPaths: withGroupingFields(operation, grouping), grouping }))

/** Fields that an operation inherits from its grouping are as invalid as its own. */
const withGroupingFields = (operation: ConfigSection<unknown>, grouping: ConfigSection<unknown>): InvalidPaths => [
  ...operation.invalidPaths,
  ...(isInvalid(grouping.invalidPaths, 'basePath') ? [['path']] : []),
  ...(isInvalid(grouping.invalidPaths, 'upstream') ? [['upstream']] : []),
]

type Mapping = Readonly<Record<string, unknown>>

interface Reader {
  mapping(raw: unknown, path: Path): Mapping
  /** A mapping that has a default for every field, so that there is always a section. */
  section<S extends z.ZodObject>(schema: S, raw: Mapping, path: Path): ConfigSection<z.output<S>>
  sections<S extends z.ZodObject>(schema: S, raw: unknown, path: Path): readonly ConfigSection<z.output<S>>[]
  named<S extends z.ZodObject>(schema: S, raw: Mapping, path: Path): readonly Named<z.output<S>>[]
}

const createReader = (known: readonly Fault[], report: (fault: Fault) => void): Reader => {
  const parse = <S extends z.ZodObject>(
    schema: S,
    raw: unknown,
    path: Path,
    parser?: Parse<S>,
  ): ConfigSection<z.output<S>> | undefined => {
    const { section, faults } = parseSection(schema, raw, path, known, parser)
    faults.forEach(report)
    return section
  }
  return {
    mapping(raw, path) {
      if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return { ...raw }
      if (raw !== undefined) report({ path, at: 'value', message: 'must be a mapping of keys to values' })
      return {}
    },
    section: (schema, raw, path) =>
      parse(schema, raw, path) ?? { path, value: schema.parse({}), invalidPaths: Object.keys(raw).map(key => [key]) },
    sections(schema, raw, path) {
      if (Array.isArray(raw)) {
        const parser = createCachedParse(schema)
        return raw.flatMap((item, index) => parse(schema, item, [...path, index], parser) ?? [])
      }
      if (raw !== undefined) report({ path, at: 'value', message: 'must be a list' })
      return []
    },
    named: (schema, raw, path) =>
      Object.entries(raw).flatMap(([key, item]) => {
        const [wrongName] = name().safeParse(key).error?.issues ?? []
        if (wrongName) report({ path: [...path, key], at: 'key', message: wrongName.message })
        const section = parse(schema, item, [...path, key])
        return section ? [{ ...section, name: key }] : []
      }),
  }
}
