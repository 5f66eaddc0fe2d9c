import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { configJsonSchema } from '../../src/config/load.ts'
import { fileSchema } from '../../src/config/schema/file.ts'
import { codeOf, readPages, root, rowsOf } from './markdown.ts'

/** What of JSON Schema the configuration's own uses. */
interface Schema {
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
  /** As the JSON Schema says it. */
  readonly default: unknown
}

/** Every key that holds a value, a list or a map; mappings with fixed keys are only the way to theirs. */
const keysOf = (schema: Schema, prefix = ''): readonly Key[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix + name
    const key = { path, isRequired: schema.required?.includes(name) ?? false, default: member.default }
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

const emptyGrouping = fileSchema.parse({ groupings: [{ name: 'one' }] })

const keys = keysOf(configJsonSchema() as Schema)
const docs = readPages('docs')
const documented = rowsOf(docs, 'Key', 'Default', 'Meaning')

t.test('the documentation has every key of the configuration, and no other', async t => {
  const paths = documented.flatMap(([key]) => codeOf(key))

  t.same(paths.toSorted(), keys.map(key => key.path).sort())
})

for (const [cell = '', shown = ''] of documented) {
  const key = keys.find(({ path }) => path === codeOf(cell)[0])
  if (key === undefined) continue
  t.test(`${key.path} has the default that the documentation says`, async t => {
    const [whole] = /^`[^`]+`$/.test(shown) ? codeOf(shown) : []

    t.equal(shown === 'required', key.isRequired, 'required where the schema requires it')
    if (key.isRequired) return
    // Words stand where the default is no literal: nothing, or taken from something else.
    t.same(whole === undefined ? undefined : parse(whole), defaultOf(key))
  })
}

t.test(
  'the documentation has every environment variable that the program and the configuration beside it read, and no other',
  async t => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(path =>
      path.endsWith('.ts'),
    )
    const read = sources.flatMap(path =>
      [...readFileSync(join(root, 'src', path), 'utf8').matchAll(/\benv\.([A-Z]\w*)/g)].map(([, name]) => name),
    )
    const sample = JSON.stringify(parse(readFileSync(join(root, 'config/sidegate.yaml'), 'utf8')))
    const referred = [...sample.matchAll(/\$\{([A-Z]\w*):-/g)].map(([, name]) => name)
    const rows = rowsOf(docs, 'Variable', 'Meaning').flatMap(([name]) => codeOf(name))

    t.same(rows.toSorted(), [...new Set([...read, ...referred])].sort())
  },
)
