import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import type { Page } from './markdown.ts'
import { killGroup } from './process-group.ts'

/** One command that a page shows after `$ `, and the lines that it says come back. */
export interface Step {
  readonly command: string
  readonly shown: readonly string[]
}

/** Every step of a page's `console` blocks, in their order. */
export const stepsOf = (page: Page): readonly Step[] =>
  page.blocks
    .filter(block => block.language === 'console')
    .flatMap(block => block.text.split(/^\$ /m).slice(1))
    .map(step => {
      const [command = '', ...lines] = step.split('\n')
      return { command, shown: lines.map(line => line.trim()).filter(line => line !== '') }
    })

/** Names in the text where something else is meant here, such as the port that a test has. */
export type Replacements = Readonly<Record<string, string>>

/** In one pass: what was put in is not looked at again. Names hold nothing that a regular expression would read. */
export const replaceAll = (text: string, replacements: Replacements): string =>
  text.replace(new RegExp(Object.keys(replacements).join('|'), 'g'), name => replacements[name] ?? name)

/** Where and how steps are run. */
export interface Shell {
  /** Default the test's own. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Bash lines that come before them. */
  readonly prelude?: string
  /** Called with each line when it is printed. */
  readonly onLine?: (line: string) => void
  /** Ends the steps before their time. */
  readonly signal?: AbortSignal
}

/** Runs the steps one after another in one shell. @returns the printed lines of each step */
const runSteps = async (
  steps: readonly Step[],
  replacements: Replacements,
  { cwd, env, prelude = '', onLine = () => undefined, signal }: Shell,
): Promise<readonly (readonly string[])[]> => {
  const separator = '=== end of step ==='
  const commands = steps.map(({ command }) => `${replaceAll(command, replacements)}\necho; echo '${separator}'`)
  const script = [prelude, ...commands].join('\n')
  const shell = spawn('bash', ['-c', script], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  signal?.addEventListener('abort', () => killGroup(shell))
  const outputs: string[][] = [[]]
  for await (const printed of createInterface(shell.stdout)) {
    const line = printed.trim()
    onLine(line)
    if (line === separator) outputs.push([])
    else if (line !== '') outputs.at(-1)?.push(line)
  }
  return outputs.slice(0, -1)
}

/** Every line that the page shows of the answers is there; a page may show fewer than came. */
export const areAsShown = async (
  t: Pick<Test, 'ok'>,
  steps: readonly Step[],
  replacements: Replacements,
  shell: Shell = {},
): Promise<void> => {
  const outputs = await runSteps(steps, replacements, shell)
  for (const [index, { command, shown }] of steps.entries()) {
    const printed = outputs[index] ?? []
    const lines = new Set(joinJson(printed).map(settled))
    t.ok(index < outputs.length, `${command} ended`)
    for (const line of shown)
      t.ok(lines.has(settled(replaceAll(line, replacements))), `${command}: ${line}`, { printed })
  }
}

/** A JSON document that came over several lines, on one. */
const joinJson = (lines: readonly string[]): readonly string[] => {
  const start = lines.indexOf('{')
  return start < 0 ? lines : [...lines.slice(0, start), lines.slice(start).join('')]
}

/** The part of a line that is the same in every run: without ids, tokens, times and counts. */
const settled = (line: string): string => {
  if (line.startsWith('{')) return settledJson(line)
  const count = /^\d+ (\d{3})$/.exec(line)
  if (count) return `some ${count[1]}`
  return line
    .replace(/^((?:x-request-id|date|content-length):).*$/i, '$1')
    .replace(/^(ratelimit: "[\w-]+");.*$/i, '$1')
    .replace(/^(sidegate_.*) [\d.e+-]+$/, '$1')
    .replace(/^workers: .*/, 'workers')
    .replace(/^(answers per second|p50|answered|let in within the fullest second): .*/, '$1')
    .replace(/(request_uri%3A)(?:…|[\w-]+)/, '$1')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'instant')
    .replace(/(?<!\S)(?:[\w-]{4}…|[\w-]{43}(?!\S))/g, 'kid')
    .replace(/ {2,}/g, '  ')
}

const ofOneAnswer = ['access_token', 'request_id', 'x-request-id', 'iat', 'nbf', 'exp', 'jti']

/** A JSON document without the values that are another's each time. */
const settledJson = (document: string): string =>
  JSON.stringify(JSON.parse(document), (name, value: unknown) => (ofOneAnswer.includes(name) ? '' : value))
