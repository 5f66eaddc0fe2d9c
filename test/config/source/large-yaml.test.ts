import t from 'tap'
import { parseYamlSource } from '../../../src/config/source/yaml-source.ts'

const count = 20_000

/** The CPU time that it takes to read the text once, in milliseconds, without the time of other programs. */
const costOf = (text: string): number => {
  const before = process.cpuUsage()
  const { syntaxFaults } = parseYamlSource(text)
  const { user, system } = process.cpuUsage(before)
  if (syntaxFaults.length > 0) throw new Error('the text is meant to be right')
  return (user + system) / 1000
}

/** Lines of keys, with a new mapping after every `mappingSize` keys. */
const keysIn = (mappingSize: number, textOf: (index: number) => string = String): string =>
  Array.from({ length: count }, (_, index) => {
    const key = `  k${index}: ${textOf(index)}\n`
    return index % mappingSize === 0 ? `m${index}:\n${key}` : key
  }).join('')

const flowKeysIn = (mappingSize: number): string => {
  const keys = Array.from({ length: count }, (_, index) => `k${index}: ${index}`)
  const mappings = keys.flatMap((_, index) =>
    index % mappingSize === 0 ? [`m${index}: {${keys.slice(index, index + mappingSize).join(', ')}}\n`] : [],
  )
  return mappings.join('')
}

t.test('a mapping with many keys takes no longer than many mappings with as many keys', async t => {
  costOf(keysIn(100))
  for (const write of [keysIn, flowKeysIn]) {
    const spread = costOf(write(100))
    const together = costOf(write(count))

    t.ok(together < 5 * spread, `${together} ms for one mapping, ${spread} ms for many`)
  }
})

t.test('many aliases in a large file take no longer than other values', async t => {
  const anchored = (index: number): string => (index === 0 ? '&first 1' : String(index))
  const plain = costOf(keysIn(100, anchored))
  const aliased = costOf(keysIn(100, index => (index > 0 && index % 25 === 0 ? '*first' : anchored(index))))

  t.ok(aliased < 5 * plain, `${aliased} ms with 799 aliases, ${plain} ms without`)
})

t.test('each repetition of a key is a fault at the place where it begins', async t => {
  const text = 'a: 1\nb: {c: 1, d: 2, "c": 3}\nl:\n  - a: 1\n    &x a: 2\n    a: 3\na: 4\n'

  const { syntaxFaults, usable } = parseYamlSource(text)

  t.ok(usable)
  t.same(
    syntaxFaults.map(({ position }) => [position.line, position.column]),
    [
      [2, 17],
      [5, 8],
      [6, 5],
      [7, 1],
    ],
  )
  t.same(new Set(syntaxFaults.map(({ message }) => message)), new Set(['this key occurs twice; keep one of the two']))
})

t.test('an alias refers to the last anchor of its name above it', async t => {
  const { tree, syntaxFaults } = parseYamlSource('a: &x 1\nb: *x\nc: &x 2\nd: *x\n')

  t.same(syntaxFaults, [])
  t.same(tree, { a: 1, b: 1, c: 2, d: 2 })
})
