/**
 * The prose lint: `node test/prose/lint.ts [PATH ...]` reads comments, texts of three words or more, test titles and Markdown, and
 * prints each place that a rule of rules.ts finds, and each line of a comment above 120 columns. Ends with 1 if there is one.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { findInProse } from './findings.ts'

/** Folders without prose of this project. */
const skipped = new Set(['node_modules', 'dist', '.git', '.tap'])

const filesOf = (path: string): readonly string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter(name => !skipped.has(name))
        .flatMap(name => filesOf(posix.join(path, name)))
    : [path]

const paths = process.argv.length > 2 ? process.argv.slice(2) : ['.']
const findings = paths.flatMap(filesOf).flatMap(path => findInProse(path, () => readFileSync(path, 'utf8')))

for (const finding of findings) console.log(finding)
if (findings.length > 0) {
  console.log(`${findings.length} places to write anew; test/prose/rules.ts has the rules`)
  process.exitCode = 1
}
