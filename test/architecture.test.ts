/**
 * Compares the imports between the rooms of src/, imports of types included, with the drawing of src/README.md. A new
 * room, or a new arrow between rooms, is a decision: add it here and to the drawing.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import t from 'tap'

const src = join(import.meta.dirname, '../src')

/** A source file by its path below src/, with `/` on every system. */
interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One import, resolved: a path below src/, or the name of a package. */
interface Import {
  readonly from: string
  readonly to: string
  readonly isPackage: boolean
}

/** The imports that are allowed between rooms. Every room may import the leaves, which are not repeated here. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  main: ['cli'],
  cli: ['app', 'config', 'cluster', 'oauth', 'telemetry'],
  cluster: ['app', 'demo', 'http', 'telemetry'],
  app: ['config', 'http', 'gateway', 'oauth', 'stores', 'telemetry'],
  config: ['gateway', 'http', 'plans', 'oauth', 'stores'],
  gateway: ['http', 'oauth', 'plans', 'telemetry'],
  http: [],
  oauth: [],
  plans: [],
  stores: [],
  telemetry: [],
  demo: [],
}

/** Files and folders that import nothing of src/ outside themselves. Every room may import them. */
const leaves = [
  'accept.ts',
  'errors.ts',
  'clock.ts',
  'install-paths.ts',
  'node-http.ts',
  'own-member.ts',
  'poll.ts',
  'random-text.ts',
  'reason-phrases.ts',
  'deep-freeze.ts',
  'dense-set.ts',
  'secret.ts',
  'share.ts',
  'files/',
  'version.ts',
  'minor-gc.ts',
  'stores/ports/',
]

/** Packages that only one room imports: no other room depends on them. */
const packageRooms: Readonly<Record<string, string>> = {
  ioredis: 'stores',
  'rate-limiter-flexible': 'stores',
  'node:sqlite': 'stores',
  jose: 'oauth',
  zod: 'config',
  'prom-client': 'telemetry',
  pino: 'telemetry',
  'node:cluster': 'cluster',
}

const adapters = ['sqlite', 'redis', 'memory'] as const

/** These choose an adapter by the configured store, so other rooms may not import them either. */
const openers = [
  'stores/open.ts',
  'stores/copy.ts',
  'stores/limiter.ts',
  'stores/replica-counter.ts',
  'stores/eviction.ts',
]

const readSources = (): readonly SourceFile[] =>
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => path.endsWith('.ts'))
    .map(path => ({ path, text: readFileSync(join(src, path), 'utf8') }))

// Every form that names a module: import … from, export … from, import 'x', import('x') as a value and as a type.
const importForms = [
  /^import\s+(?:type\s+)?[\w$*{}\s,]+?\s+from\s+['"]([^'"]+)['"]/gm,
  /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[\w$\s,]*\})\s+from\s+['"]([^'"]+)['"]/gm,
  /^import\s+['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]/g,
]

const importsOf = (file: SourceFile): readonly Import[] =>
  importForms
    .flatMap(form => [...file.text.matchAll(form)])
    .map(([, specifier = '']) => {
      const isPackage = !specifier.startsWith('.')
      const to = isPackage ? specifier : posix.join(posix.dirname(file.path), specifier)
      return { from: file.path, to, isPackage }
    })

/** The folder below src/, or the file itself for those that stand there alone (`app`, `main`, `errors`). */
const roomOf = (path: string): string => path.split('/')[0]?.replace(/\.ts$/, '') ?? path

const leafOf = (path: string): string | undefined =>
  leaves.find(leaf => (leaf.endsWith('/') ? path.startsWith(leaf) : path === leaf))

const isLeaf = (path: string): boolean => leafOf(path) !== undefined

const adapterOf = (path: string): string | undefined => {
  const name = path.startsWith('stores/') ? path.slice('stores/'.length) : ''
  return adapters.find(adapter => new RegExp(`^${adapter}\\b`).test(name))
}

/** The fault of an import, or undefined. */
const faultOf = (found: Import): string | undefined =>
  found.isPackage ? packageFaultOf(found) : (leafFaultOf(found) ?? adapterFaultOf(found) ?? roomFaultOf(found))

const packageFaultOf = ({ from, to }: Import): string | undefined => {
  const room = packageRooms[to]
  return room === undefined || roomOf(from) === room ? undefined : `${from} uses ${to}, which belongs to ${room}/`
}

const leafFaultOf = ({ from, to }: Import): string | undefined =>
  isLeaf(from) && leafOf(from) !== leafOf(to) ? `${from} is a leaf and imports ${to}` : undefined

/** Outside the room only the app imports adapters. Inside it the openers do, and each adapter imports its own files. */
const adapterFaultOf = ({ from, to }: Import): string | undefined => {
  const isAdapter = adapterOf(to) !== undefined
  if (roomOf(from) !== 'stores') {
    const isForbidden = (isAdapter || openers.includes(to)) && roomOf(from) !== 'app'
    return isForbidden ? `${from} names ${to}: only the app names adapters` : undefined
  }
  const isOwn = adapterOf(from) === adapterOf(to) || openers.includes(from)
  return isAdapter && !isOwn ? `${from} names another adapter, ${to}` : undefined
}

const roomFaultOf = ({ from, to }: Import): string | undefined => {
  const [room, target] = [roomOf(from), roomOf(to)]
  if (room === target || isLeaf(to) || arrows[room]?.includes(target)) return undefined
  return `${from} imports ${to}: ${room} may not import ${target}`
}

const faultsIn = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(importsOf).flatMap(found => faultOf(found) ?? [])

/** The rooms along a cycle of arrows, with the same room first and last; undefined if there is no cycle. */
const findCycle = (graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined => {
  const visit = (room: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(room)) return [...path.slice(path.indexOf(room)), room]
    for (const next of graph.get(room) ?? []) {
      const cycle = visit(next, [...path, room])
      if (cycle) return cycle
    }
    return undefined
  }
  for (const room of graph.keys()) {
    const cycle = visit(room, [])
    if (cycle) return cycle
  }
  return undefined
}

const graphOf = (files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const graph = new Map<string, Set<string>>()
  for (const { from, to, isPackage } of files.flatMap(importsOf)) {
    if (isPackage || isLeaf(to) || roomOf(from) === roomOf(to)) continue
    const targets = graph.get(roomOf(from)) ?? new Set()
    graph.set(roomOf(from), targets.add(roomOf(to)))
  }
  return graph
}

const example = (path: string, text: string): readonly string[] => faultsIn([{ path, text }])

t.test('every import points down', async t => {
  t.same(faultsIn(readSources()), [])
})

t.test('only types are imported from node:http, because it is expensive to load', async t => {
  const importing = readSources().filter(({ text }) => /^import (?!type )[^']*? from 'node:http'$/m.test(text))

  // The demo upstream is a process of its own.
  t.same(
    importing.map(({ path }) => path),
    ['demo/upstream.ts'],
  )
})

t.test('the imports between rooms form no cycle', async t => {
  const graph = graphOf(readSources())

  t.ok(graph.size > 0, 'there are arrows at all')
  t.equal(findCycle(graph), undefined)
})

t.test('every arrow is used by an import', async t => {
  const graph = graphOf(readSources())
  const drawn = Object.entries(arrows).flatMap(([room, targets]) => targets.map(target => ({ room, target })))

  t.same(
    drawn.filter(({ room, target }) => !graph.get(room)?.has(target)),
    [],
  )
})

t.test('a cycle is found', async t => {
  const graph = graphOf([
    { path: 'http/server.ts', text: "import { pipeline } from '../gateway/pipeline.ts'" },
    { path: 'gateway/pipeline.ts', text: "import { reply } from '../http/reply.ts'" },
  ])

  t.same(findCycle(graph), ['http', 'gateway', 'http'])
})

t.test('every room of src/ has its arrows in this file', async t => {
  const rooms = new Set(readSources().map(file => roomOf(file.path)))
  const leafFiles = leaves.map(leaf => roomOf(leaf)).filter(leaf => !(leaf in arrows))

  t.same([...rooms].filter(room => !leafFiles.includes(room)).sort(), Object.keys(arrows).sort())
})

t.test('the drawing of src/README.md shows these rooms and these arrows', async t => {
  const readme = readFileSync(join(src, 'README.md'), 'utf8')
  const drawing = /## Allowed imports\n[^#]*?```\w*\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const lines = drawing.trim().split('\n')
  const drawn = lines.map(line => line.split('→').map(part => part.trim()))
  const expected = Object.entries(arrows).map(([room, targets]) => [room, targets.join(', ') || '(leaves only)'])

  t.same(drawn, expected)
})

t.test('a forbidden import is found in every syntactic form', async t => {
  const forbidden = [
    "import { load } from '../config/load.ts'",
    "import type { Config } from '../config/load.ts'",
    "import {\n  type Config,\n  load,\n} from '../config/load.ts'",
    "import '../config/load.ts'",
    "export { load } from '../config/load.ts'",
    "export type { Config } from '../config/load.ts'",
    "export * from '../config/load.ts'",
    "const { load } = await import('../config/load.ts')",
    "let config: import('../config/load.ts').Config",
  ]

  for (const text of forbidden) {
    t.same(
      example('oauth/token.ts', text),
      ['oauth/token.ts imports config/load.ts: oauth may not import config'],
      text,
    )
  }
})

t.test('an allowed import is accepted', async t => {
  t.same(example('gateway/forward.ts', "import { reply } from '../http/reply.ts'"), [])
  t.same(example('oauth/token.ts', "import type { Store } from '../stores/ports/store.ts'"), [])
  t.same(example('app.ts', "import { openStore } from './stores/open.ts'"), [])
})

t.test('only the app and the openers import an adapter', async t => {
  const named = "import { openSqlite } from './sqlite.ts'"

  t.same(example('stores/open.ts', named), [])
  t.same(example('stores/redis.ts', named), ['stores/redis.ts names another adapter, stores/sqlite.ts'])
  t.same(example('gateway/forward.ts', "import { openSqlite } from '../stores/sqlite.ts'"), [
    'gateway/forward.ts names stores/sqlite.ts: only the app names adapters',
  ])
})

t.test('a leaf imports nothing else, and a driver is imported by one room only', async t => {
  t.same(example('clock.ts', "import { GatewayError } from './errors.ts'"), [
    'clock.ts is a leaf and imports errors.ts',
  ])
  t.same(example('stores/ports/grants.ts', "import { openStore } from '../open.ts'"), [
    'stores/ports/grants.ts is a leaf and imports stores/open.ts',
  ])
  t.same(example('stores/ports/grants.ts', "import type { GrantRecord } from './grant-record.ts'"), [])
  t.same(example('gateway/forward.ts', "import { Redis } from 'ioredis'"), [
    'gateway/forward.ts uses ioredis, which belongs to stores/',
  ])
})
