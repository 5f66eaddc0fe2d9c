import { parseArgs } from 'node:util'
import { toCount } from '../count.ts'
import type { Topology } from './fleet.ts'
import { type Scenario, scenarios } from './scenario.ts'

export interface LimitsOptions {
  /** Length of one run; those with an outage last two seconds longer. */
  readonly durationSec: number
  readonly topologies: readonly Topology[]
  readonly scenarios: readonly Scenario[]
}

export const limitsUsage = 'npm run bench -- limits [--seconds N] [--processes 1x1,4x1,2x2] [scenario ...]'

/** Undefined where only help was asked for. Throws a TypeError that says what is wrong with the arguments. */
export const parseLimitsOptions = (args: readonly string[]): LimitsOptions | undefined => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '4' },
      processes: { type: 'string', default: '1x1,4x1,2x2' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  return {
    durationSec: toCount(values.seconds),
    topologies: values.processes.split(',').map(toTopology),
    scenarios: choose(positionals),
  }
}

/** `2x3`: two workers in each of three pods. */
const toTopology = (text: string): Topology => {
  const [, workers, pods] = /^(\d+)x(\d+)$/.exec(text) ?? []
  if (!workers || !pods) throw new TypeError(`processes are WORKERSxPODS, such as 4x1, not ${text}`)
  return { workers: toCount(workers), pods: toCount(pods) }
}

/** Without names: all. */
const choose = (names: readonly string[]): readonly Scenario[] => {
  const unknown = names.filter(name => !scenarios.some(scenario => scenario.name === name))
  if (unknown.length > 0) {
    throw new TypeError(`unknown: ${unknown.join(', ')}; there are ${scenarios.map(({ name }) => name).join(', ')}`)
  }
  return names.length === 0 ? scenarios : scenarios.filter(({ name }) => names.includes(name))
}
