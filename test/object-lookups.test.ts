/**
 * No table of src/ finds members that every object inherits: a text from outside, such as a `kty` of `constructor`,
 * finds only the table's own members.
 */
import { resolve } from 'node:path'
import t from 'tap'
import { ownMember, setOwnMember } from '../src/own-member.ts'
import { findObjectLookups } from './support/object-lookups.ts'

const inherited = ['constructor', 'toString', 'hasOwnProperty', '__proto__', '__defineGetter__'] as const

t.test('no file of src/ looks a text of unknown content up in an object, except own-member.ts', async t => {
  const { files, lookups } = findObjectLookups(resolve(import.meta.dirname, '..'), 'src/')

  t.ok(files > 500, 'the type checker has read src/')
  t.same(
    lookups
      .filter(({ file }) => file !== 'src/own-member.ts')
      .map(({ file, line, text }) => `${file}:${line}: ${text}`),
    [],
    'ownMember(), setOwnMember(), Object.hasOwn() and Map find only what a table itself has',
  )
  t.ok(
    lookups.some(({ file }) => file === 'src/own-member.ts'),
    'the lookups of own-member.ts are found',
  )
})

t.test('each form of a lookup by a text is found, and a lookup by a known name is not', async t => {
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, types: [] }, include: ['src'] }),
    src: {
      'examples.ts': `
declare const text: string
declare const table: Record<string, number>
declare const known: 'a' | 'b'
declare const two: Record<'a' | 'b', number>
declare const list: readonly number[]
export const a = table[text]
export const b = table?.[\`x\${text}\`]
export const c = text in table
export const { [text]: d } = table
export const e = two[text as 'a']
export const f = <Name extends string>(name: Name, values: Record<Name, number>) => values[name]
table[text] = 1
export const ok = [two[known], list[0], list[list.length - 1], 'a' in table, table['a'], { [text]: 1 }]
`,
    },
  })

  t.same(
    findObjectLookups(folder, 'src/').lookups.map(({ line }) => line),
    [7, 8, 9, 10, 11, 12, 13],
  )
})

t.test('ownMember finds nothing that an object inherits', async t => {
  const table: Readonly<Record<string, unknown>> = { EC: 'curve' }

  for (const name of inherited) t.equal(ownMember(table, name), undefined, name)
  t.equal(ownMember(table, 'EC'), 'curve')
  t.equal(ownMember(undefined, 'EC'), undefined)
  t.equal(ownMember(JSON.parse('{"__proto__":"own"}'), '__proto__'), 'own')
})

t.test('setOwnMember sets a member of the object itself, whatever its name', async t => {
  for (const name of inherited) {
    const table: Record<string, unknown> = {}
    setOwnMember(table, name, { admin: true })
    t.same(Object.keys(table), [name])
    t.equal(Object.getPrototypeOf(table), Object.prototype)
    t.equal(table.admin, undefined)
  }
})
