/**
 * The prose lint: `node test/prose/lint.ts [PATH ...]` reads comments, texts of three words or more, test titles and Markdown, and
 * prints each place that a rule of rules.ts finds, and each line of a comment above 120 columns. Ends with 1 if there is one.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { findInProse } from './findings.ts'

const listed = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...process.argv.slice(2)],
  {
    encoding: 'utf8',
  },
)
const findings = listed
  .split('\n')
  .filter(path => path !== '')
  .flatMap(path => findInProse(path, () => readFileSync(path, 'utf8')))

for (const finding of findings) console.log(finding)
if (findings.length > 0) {
  console.log(`${findings.length} places to write anew; test/prose/rules.ts has the rules`)
  process.exitCode = 1
}
