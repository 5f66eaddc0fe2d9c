import { parseArgs } from 'node:util'
import { toCount } from '../count.ts'
import { Programs } from '../program.ts'
import { createScenarios } from '../scenario.ts'

export const compareUsage = 'npm run bench -- compare PROGRAM [--seconds N] [--rounds N] [scenario ...]'

export interface CompareOptions {
  /** The launcher of the other checkout or package. */
  readonly program: string
  readonly durationSec: number
  readonly rounds: number
  readonly names: readonly string[]
}

/** The rows that Sidegate serves: only those can be compared with another Sidegate. */
const comparable = createScenarios(new Programs(), '')
  .filter(({ title }) => title.startsWith('Sidegate'))
  .map(({ name }) => name)

/**
 * Undefined where only help was asked for.
 * @throws TypeError that says what is wrong with the arguments
 */
export const parseCompareOptions = (args: readonly string[]): CompareOptions | undefined => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '20' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const [program, ...names] = positionals
  if (program === undefined)
    throw new TypeError('compare needs the launcher of the other version, such as ../before/src/sidegate.cjs')
  const unknown = names.filter(name => !comparable.includes(name))
  if (unknown.length > 0) throw new TypeError(`unknown: ${unknown.join(', ')}; compare knows ${comparable.join(', ')}`)
  return {
    program,
    durationSec: toCount(values.seconds),
    rounds: toCount(values.rounds),
    names: names.length === 0 ? comparable : names,
  }
}
