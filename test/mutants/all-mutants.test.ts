import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { allMutants } from './all-mutants.ts'
import { countOf, mutate } from './mutant.ts'

const root = join(import.meta.dirname, '../..')

const problemOf = (mutant: (typeof allMutants)[number]): string | undefined => {
  try {
    mutate(readFileSync(join(root, mutant.file), 'utf8'), mutant)
    return undefined
  } catch (error) {
    return `${mutant.name}: ${error instanceof Error ? error.message : error}`
  }
}

t.test(
  'the text of each fault is found exactly once in the source, and what takes its place is TypeScript',
  async t => {
    t.ok(allMutants.length >= 60)
    t.same(allMutants.map(problemOf).filter(Boolean), [])
  },
)

t.test('each fault has a name of its own, and test files that are there', async t => {
  t.equal(new Set(allMutants.map(({ name }) => name)).size, allMutants.length)
  t.same(
    allMutants.filter(({ tests }) => tests.length === 0).map(({ name }) => name),
    [],
  )
  t.same(
    allMutants
      .flatMap(({ tests }) => tests)
      .filter(file => !file.endsWith('.test.ts') || !existsSync(join(root, file))),
    [],
  )
})

t.test('a table that does not fit the source is found', async t => {
  const text = 'const sum = a + b\nconst twice = a + a\n'
  const mutant = { name: '', file: 'sum.ts', tests: [] }

  t.equal(countOf(text, { find: 'a + ' }), 2)
  t.equal(mutate(text, { ...mutant, find: '+ b', replace: '- b' }), 'const sum = a - b\nconst twice = a + a\n')
  t.throws(() => mutate(text, { ...mutant, find: 'a + ', replace: 'a - ' }), {
    message: 'sum.ts has the text 2 times, not once: a + ',
  })
  t.throws(() => mutate(text, { ...mutant, find: 'c', replace: 'd' }), { message: /^sum\.ts has the text 3 times/ })
  t.throws(() => mutate(text, { ...mutant, find: '+ b', replace: '+ b' }), {
    message: 'the replacement changes nothing in sum.ts',
  })
  t.throws(() => mutate(text, { ...mutant, find: '+ b', replace: '+ (b' }), {
    message: 'sum.ts is no TypeScript with this replacement: + (b',
  })
})

t.test('an `only` matches the title of a test', async t => {
  const tests = join(root, 'test')
  const texts = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !path.startsWith('mutants'))
    .map(path => readFileSync(join(tests, path), 'utf8').replaceAll(/\n\s*/g, ' '))
  const unmatched = allMutants.filter(
    ({ only }) => only !== undefined && !texts.some(text => new RegExp(only).test(text)),
  )

  t.same(
    unmatched.map(({ name, only }) => `${name}: ${only}`),
    [],
  )
})
