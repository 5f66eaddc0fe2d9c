import { parseArgs } from 'node:util'

export const usage = `usage: npm run mutants -- [--jobs N] [--limit SECONDS] [--list] [WORD...]

Plants one fault after another in a copy of the source, runs the tests that should notice it, and prints what survived.

  --jobs N         tests N faults at the same time; default 1
  --limit SECONDS  ends a test file that takes longer, which counts as noticed; default 60
  --list           prints the names of the faults, and tests none
  WORD             only faults whose name or file has one of the words`

export interface MutantsOptions {
  readonly jobs: number
  readonly timeLimitMs: number
  readonly isList: boolean
  readonly words: readonly string[]
}

/** @throws TypeError that says what is wrong with the arguments */
export const parseMutantsOptions = (args: readonly string[]): MutantsOptions => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      jobs: { type: 'string', default: '1' },
      limit: { type: 'string', default: '60' },
      list: { type: 'boolean', default: false },
    },
  })
  return {
    jobs: parseCount('--jobs', values.jobs),
    timeLimitMs: parseCount('--limit', values.limit) * 1000,
    isList: values.list,
    words: positionals,
  }
}

const parseCount = (option: string, text: string): number => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new TypeError(`${option} takes a whole number from 1 to 9999`)
  return Number(text)
}
