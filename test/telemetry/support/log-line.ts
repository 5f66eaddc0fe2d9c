import { auditActions } from '../../../src/telemetry/audit-actions.ts'
import { logEvents } from '../../../src/telemetry/log-events.ts'
import { type LogFieldDeclaration, logFields } from '../../../src/telemetry/log-fields.ts'

export type LogLine = Readonly<Record<string, unknown>>

interface Declared {
  readonly fields: readonly string[]
  readonly optional: readonly string[]
}

/** The fields that every line begins with, and the message. */
const frame = ['level', 'time', 'pid', 'worker_pid', 'event', 'msg']

/** Every difference between a line and the catalogue; empty if the line matches the catalogue. */
export const faultsOf = (line: LogLine): readonly string[] => {
  const { event, level, time, pid, worker_pid } = line
  const declared = entryOf<Declared & { readonly level: string }>(logEvents, event)
  if (!declared) return [`${event} is no event`]
  const own = event === 'audit' ? entryOf<Declared>(auditActions, line.action) : declared
  if (!own) return [`${line.action} is no action`]
  const mayWarn = event === 'audit' || event === 'stopped'
  return [
    ...(level === declared.level || (mayWarn && level === 'warn') ? [] : [`${event} has the level ${level}`]),
    ...(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(time)) ? [] : [`${event} has no time`]),
    ...(Number.isInteger(pid ?? worker_pid) ? [] : [`${event} has no process id`]),
    ...fieldFaults(line, event === 'audit' ? withOutcome(own) : own).map(fault => `${event}: ${fault}`),
  ]
}

const withOutcome = ({ fields, optional }: Declared): Declared => ({
  fields: ['action', 'outcome', ...fields],
  optional,
})

const fieldFaults = (line: LogLine, { fields, optional }: Declared): readonly string[] => [
  ...fields.filter(field => !(field in line)).map(field => `lacks ${field}`),
  ...Object.entries(line)
    .filter(([field]) => !frame.includes(field) || fields.includes(field))
    .flatMap(([field, value]) => {
      if (!fields.includes(field) && !optional.includes(field)) return [`has ${field}`]
      return isOfType(entryOf<LogFieldDeclaration>(logFields, field)?.type, value) ? [] : [`${field} is ${value}`]
    }),
]

const isOfType = (type: LogFieldDeclaration['type'] | undefined, value: unknown): boolean => {
  switch (type) {
    case 'string':
      return typeof value === 'string'
    case 'strings':
      return Array.isArray(value) && value.every(one => typeof one === 'string')
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'error':
      return typeof value === 'object' && value !== null && 'message' in value
    case undefined:
      return false
  }
}

const entryOf = <T>(catalogue: Readonly<Record<string, T>>, name: unknown): T | undefined =>
  typeof name === 'string' && Object.hasOwn(catalogue, name) ? catalogue[name] : undefined

export const parseLines = (output: readonly string[]): readonly LogLine[] =>
  output.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
