import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'yaml'
import { configJsonSchema } from '../../../src/config/load.ts'
import { fileSchema } from '../../../src/config/schema/file.ts'
import { codeOf } from '../markdown.ts'
import type { Rows } from './tables.ts'

/** The part of JSON Schema that the configuration's own uses. */
interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly default?: unknown
}

interface Key {
  /** `plans.NAME.rate`, `clients[].scope`. */
  readonly path: string
  readonly isRequired: boolean
  readonly default: unknown
  /** As editors show it; empty if the schema has none. */
  readonly description: string
}

/** Every key that holds a value, a list or a map; mappings with fixed keys are only the way to theirs. */
const keysOf = (schema: Schema, prefix = ''): readonly Key[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix + name
    const key = {
      path,
      isRequired: schema.required?.includes(name) ?? false,
      default: member.default,
      description: member.description ?? '',
    }
    if (member.properties) return keysOf(member, `${path}.`)
    if (member.items) return [key, ...keysOf(member.items, `${path}[].`)]
    const { additionalProperties } = member
    return typeof additionalProperties === 'object' ? [key, ...keysOf(additionalProperties, `${path}.NAME.`)] : [key]
  })

/** The least of every list and map, with the defaults filled in. */
const completed = fileSchema.parse({
  plans: { NAME: { rate: '1/1second' } },
  groupings: [{ name: 'one', operations: [{ method: 'GET', path: '/' }] }],
  upstreams: { NAME: { targets: ['http://127.0.0.1:9000'], health: { path: '/' } } },
  clients: [{ client_id: 'one' }],
  login: { users: [{ username: 'one' }] },
})

/** The default of a list that a file leaves out cannot be seen in `completed`. */
const leftOut = fileSchema.parse({})

const emptyGrouping = fileSchema.parse({ groupings: [{ name: 'one' }] })

const valueAt = (tree: unknown, path: string): unknown =>
  path
    .replaceAll('[]', '.0')
    .split('.')
    .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], tree)

const defaultOf = (key: Key): unknown => {
  if (key.default !== undefined) return key.default
  return key.path.includes('.') && !key.path.startsWith('login.')
    ? valueAt(
        key.path.endsWith('.operations') && key.path.startsWith('groupings') ? emptyGrouping : completed,
        key.path,
      )
    : valueAt(leftOut, key.path)
}

/** Every key of the configuration, in the order of the schema. */
const keys: readonly Key[] = keysOf(configJsonSchema() as Schema).map(key => ({
  ...key,
  default: defaultOf(key),
}))

/** The top-level keys of each table but the first, which has the rest. */
const parts = {
  plans: ['plans'],
  groupings: ['groupings', 'upstreams'],
  clients: ['scopes', 'clients', 'login', 'tokens', 'keys'],
} as const

export type Part = 'program' | keyof typeof parts

const partOf = (path: string): Part => {
  const [top = ''] = path.split(/[.[]/)
  const found = Object.entries(parts).find(([, tops]) => (tops as readonly string[]).includes(top))
  return (found?.[0] ?? 'program') as Part
}

/**
 * The keys of one part, in the order of the schema. The meaning is the page's own text, because a cell has more room
 * than the text that an editor shows; a new key gets the text of the schema.
 */
export const configurationRows =
  (part: Part) =>
  (present: Rows): Rows =>
    keys
      .filter(({ path }) => partOf(path) === part)
      .map(key => {
        const [, shown, meaning] = present.find(([cell]) => codeOf(cell)[0] === key.path) ?? []
        return [`\`${key.path}\``, defaultCell(key, shown), meaning ?? key.description]
      })

const literal = /^`[^`]+`$/

/** Keeps the words of the page if the default is not a literal: it depends on something else, or does not exist. */
const defaultCell = (key: Key, shown = '–'): string => {
  if (key.isRequired) return 'required'
  if (key.default === undefined) return literal.test(shown) || shown === 'required' ? '–' : shown
  const isSame = literal.test(shown) && isDeepStrictEqual(parse(codeOf(shown)[0] ?? ''), key.default)
  return isSame ? shown : `\`${stringify(key.default, { collectionStyle: 'flow', lineWidth: 0 }).trim()}\``
}
