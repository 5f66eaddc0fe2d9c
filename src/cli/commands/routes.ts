import { type Operation, operationLabel, type Plan, publishOperations, type SidegateConfig } from '../../config/load.ts'
import { ownMember } from '../../own-member.ts'
import { type Command, parseOptions } from '../command.ts'
import { configOption, loadOrReport, requireConfigFile } from '../config-file.ts'
import { printLine } from '../output.ts'
import { toTable } from '../table.ts'

/**
 * Prints the published operations of a configuration, one line for each method and path; the built-in ones come last.
 */
export const routes: Command = {
  name: 'routes',
  synopsis: '--config FILE',
  summary: 'prints the operations: their callers, plans and targets',
  run: async args => {
    const config = await loadOrReport(requireConfigFile(parseOptions(args, configOption).config))
    if (!config) return 1
    const operations = publishOperations(config.operations, config.oauth)
    for (const line of toTable([headings, ...operations.flatMap(operation => toRows(operation, config))])) {
      printLine(line)
    }
    return 0
  },
}

type Row = readonly string[]

const headings: Row = ['GROUPING', 'VERSION', 'METHOD', 'PATH', 'CALLER', 'PLAN', 'GOES TO']

const toRows = (operation: Operation, config: SidegateConfig): readonly Row[] =>
  [operation.path, ...operation.aliases].map(path => [
    operation.grouping,
    operation.version,
    operation.method,
    path,
    callerOf(operation),
    planOf(operation, Object.values(config.plans)),
    goalOf(operation, config),
  ])

const callerOf = ({ credentials, scopes, target }: Operation): string => {
  switch (credentials) {
    case 'bearer':
      return ['bearer token', ...scopes].join(' ')
    case 'client':
      return 'client'
    case 'query':
      return 'client, by query'
    case 'none':
      return target.kind === 'serve' && target.serves === 'authorize' ? 'public, for a client' : 'public'
  }
}

/**
 * The plan that the operation names, or the only one, with its limits; if there are several, each client's own plan
 * applies.
 */
const planOf = (operation: Operation, plans: readonly Plan[]): string => {
  const { plan: chosen } = operation
  if (chosen === 'none') return 'none'
  const possible = chosen === 'client' ? plans : plans.filter(({ name }) => name === chosen.name)
  const [plan, ...others] = possible
  if (!plan || others.length > 0) return "the client's"
  const limits = [...limitsOf(plan, operation), ...(chosen === 'client' ? [] : ['by address'])]
  return `${plan.name} ${limits.join(', ')}`
}

const limitsOf = ({ rate, operations, burst, quota, burstLimit }: Plan, operation: Operation): readonly string[] => [
  rateText(ownMember(operations, operationLabel(operation)) ?? rate),
  ...(burst === undefined ? [] : [`burst ${burst}`]),
  ...(quota ? [`quota ${rateText(quota)}`] : []),
  ...(burstLimit ? [`burst ${rateText(burstLimit)}`] : []),
]

/** `100/1second`, `10000/2days`: as the configuration takes it, with the time in its largest whole unit. */
const rateText = ({ limit, windowSec }: Plan['rate']): string => {
  const [unit, unitSec] = units.find(([, sec]) => windowSec % sec === 0) ?? seconds
  const count = windowSec / unitSec
  return `${limit}/${count}${unit}${count === 1 ? '' : 's'}`
}

const seconds = ['second', 1] as const
const units = [['day', 86_400], ['hour', 3600], ['minute', 60], seconds] as const

const goalOf = ({ target }: Operation, config: SidegateConfig): string => {
  switch (target.kind) {
    case 'serve':
      return target.serves
    case 'forward':
      return `${target.upstream} (${targetsOf(config, target.upstream).join(', ')})`
    case 'elsewhere':
      return 'another gateway'
    case 'check':
      return `check, for ${target.gateway}`
  }
}

const targetsOf = ({ upstreams }: SidegateConfig, name: string): readonly string[] =>
  upstreams.find(upstream => upstream.name === name)?.targets ?? []
