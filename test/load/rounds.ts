import { parseArgs } from 'node:util'
import { toCount } from './count.ts'

/** The rows to measure, for how long and how often. */
export interface Rounds {
  /** Length of one measurement, in seconds. */
  readonly durationSec: number
  /** In each round everything is measured once, so that a slow minute of the machine meets all of it. */
  readonly rounds: number
  /** Empty: all. */
  readonly names: readonly string[]
}

/**
 * `[--seconds N] [--rounds N] [name ...]`. Undefined where only help was asked for.
 * @throws TypeError that says what is wrong with the arguments
 */
export const parseRounds = (args: readonly string[]): Rounds | undefined => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  return { durationSec: toCount(values.seconds), rounds: toCount(values.rounds), names: positionals }
}
