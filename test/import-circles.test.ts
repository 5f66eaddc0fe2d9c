/** No file of src/ imports itself by way of others, and no folder of a room does. Type imports count. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import t from 'tap'
import { findCircles } from './support/circles.ts'

const src = join(import.meta.dirname, '../src')

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map(path => path.replaceAll('\\', '/'))
  .filter(path => path.endsWith('.ts'))

const importsOf = (path: string): readonly string[] =>
  [...readFileSync(join(src, path), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'(\.\.?\/[^']+)'/g)].map(
    ([, specifier = '']) => posix.join(posix.dirname(path), specifier),
  )

const imports = new Map(files.map(path => [path, importsOf(path)]))

/** The rooms: the folders that stand in src/ itself. */
const rooms = [...new Set(files.filter(path => path.includes('/')).map(path => path.split('/')[0] ?? ''))]

/** A folder of a room, or a file that stands in the room itself. */
const partOf = (path: string): string => path.split('/').slice(0, 2).join('/')

const partsOf = (room: string): ReadonlyMap<string, readonly string[]> => {
  const parts = new Map<string, string[]>()
  for (const [path, targets] of imports) {
    if (!path.startsWith(`${room}/`)) continue
    const inRoom = targets.filter(target => target.startsWith(`${room}/`)).map(partOf)
    parts.set(partOf(path), [...(parts.get(partOf(path)) ?? []), ...inRoom.filter(part => part !== partOf(path))])
  }
  return parts
}

t.test('a circle is found, with every member of it', async t => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
    ['e', ['e']],
  ])

  t.same(findCircles(graph), [['a', 'b', 'c'], ['e']])
})

t.test('every import of a file leads to a file', async t => {
  t.ok(files.length > 500)
  t.same(
    [...imports].flatMap(([path, targets]) =>
      targets.filter(target => !imports.has(target)).map(target => `${path} -> ${target}`),
    ),
    [],
  )
})

t.test('no file imports itself by way of others', async t => {
  t.same(findCircles(imports), [])
})

t.test('no folder of a room imports itself by way of others', async t => {
  t.ok(rooms.includes('oauth'))
  for (const room of rooms) t.same(findCircles(partsOf(room)), [], room)
})
