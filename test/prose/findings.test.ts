import t from 'tap'
import { findInProse } from './findings.ts'

const found = (path: string, text: string): readonly string[] => findInProse(path, () => text)

t.test('comments, texts, test titles and Markdown are read, and code is not', async t => {
  t.match(found('a.ts', 'const who = 1\n// told to nobody\n'), [/^a\.ts:2: indefinite person .*: nobody$/])
  t.match(found('a.ts', "t.test('a worker says so at once', () => who)\n"), [
    /^a\.ts:1: a program that speaks .*: says so$/,
  ])
  t.match(found('a.md', '# A page\n\nThere is none that\n```\nwho\n```\n`who`\n'), [/^a\.md:3: absence .*: is none$/])
  t.same(found('a.ts', "const a = 'who'\nconst b = /who is it/\nconst c = `$" + '{who} of a`\n'), [])
  t.same(found('a.png', 'who'), [])
})

t.test('a sentence begins with its noun', async t => {
  t.equal(found('a.md', 'What is sent is kept.').length, 1)
  t.equal(found('a.ts', '/** It ends. What comes then is dropped. */').length, 1)
  t.same(found('a.md', 'What does it cost?'), [])
  t.same(found('a.md', 'The table says what it costs.'), [])
})

t.test('the lines of a comment end at 120 columns', async t => {
  t.same(found('a.ts', `// ${'a'.repeat(117)}\n`), [])
  t.match(found('a.ts', `// ${'a'.repeat(118)}\n`), [/^a\.ts:1: a comment of 121 columns/])
})
