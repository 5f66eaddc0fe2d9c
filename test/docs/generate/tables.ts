import { gatewayErrors, oauthErrors, proofFaults } from '../../../src/errors.ts'
import { auditActions } from '../../../src/telemetry/audit-actions.ts'
import { logEvents } from '../../../src/telemetry/log-events.ts'
import { logFields } from '../../../src/telemetry/log-fields.ts'
import { metrics } from '../../../src/telemetry/metrics.ts'
import { sidegate } from '../../cli/run.ts'
import { toPage } from '../markdown.ts'
import { configurationRows } from './configuration.ts'

export type Rows = readonly (readonly string[])[]

interface GeneratedTable {
  readonly headings: readonly string[]
  /** @param present the rows of the page, for the cells that the code has no text for */
  rows(present: Rows): Rows | Promise<Rows>
}

const code = (name: string): string => `\`${name}\``

const listed = (names: readonly string[]): string => names.map(code).join(', ') || '–'

/** The fields of a kind of line. One with `?` is left out if it says nothing. */
const fieldsOf = ({ fields, optional }: { readonly fields: readonly string[]; readonly optional: readonly string[] }) =>
  [...fields.map(code), ...optional.map(field => `${code(field)}?`)].join(', ') || '–'

/** A text that only the page has, found by the row's first cell; empty for a row that is new. */
const kept = (present: Rows, name: string): string => present.find(([first]) => first === code(name))?.at(-1) ?? ''

const help = async (): Promise<string> => (await sidegate(['--help'])).stdout

const configurationHeadings = ['Key', 'Default', 'Meaning']

/** Every table that `npm run docs` writes, by the name in its marker. */
export const tables: Readonly<Record<string, GeneratedTable>> = {
  commands: {
    headings: ['Command', 'Effect'],
    rows: async () =>
      [...(await help()).matchAll(/^ {2}(sidegate .+)\n {6}(.+)$/gm)].map(([, command = '', summary = '']) => [
        code(command),
        summary,
      ]),
  },
  'exit-codes': {
    headings: ['Exit code', 'Meaning'],
    rows: async () => {
      const [, listed = ''] = /Exit codes: (.+)\.\s*$/.exec(await help()) ?? []
      return listed.split(', ').map(entry => [entry.slice(0, 1), entry.slice(2)])
    },
  },
  'configuration-program': { headings: configurationHeadings, rows: configurationRows('program') },
  'configuration-plans': { headings: configurationHeadings, rows: configurationRows('plans') },
  'configuration-groupings': { headings: configurationHeadings, rows: configurationRows('groupings') },
  'configuration-clients': { headings: configurationHeadings, rows: configurationRows('clients') },
  'oauth-errors': {
    headings: ['`error`', 'Status', 'When'],
    rows: present =>
      Object.entries(oauthErrors).map(([name, status]) => [code(name), String(status), kept(present, name)]),
  },
  'gateway-errors': {
    headings: ['`code`', 'Status', '`detail`'],
    rows: () => Object.entries(gatewayErrors).map(([name, { status, detail }]) => [code(name), String(status), detail]),
  },
  'refused-proofs': {
    headings: ['`error_code`', 'Reason'],
    rows: present => proofFaults.map(name => [code(name), kept(present, name)]),
  },
  metrics: {
    headings: ['Name', 'Kind', 'Labels', 'Meaning'],
    rows: () => Object.values(metrics).map(({ name, kind, labels, help }) => [code(name), kind, listed(labels), help]),
  },
  events: {
    headings: ['`event`', 'Level', 'Fields', 'When'],
    rows: () =>
      Object.entries(logEvents)
        // These have tables of their own.
        .filter(([name]) => name !== 'request' && name !== 'audit')
        .map(([name, event]) => [code(name), event.level, fieldsOf(event), event.when]),
  },
  'audit-actions': {
    headings: ['`action`', '`outcome`', '`logs.audit`', 'Fields', 'When'],
    rows: () =>
      Object.entries(auditActions).map(([name, action]) => [
        code(name),
        action.outcome,
        code(action.scope),
        fieldsOf(action),
        action.when,
      ]),
  },
  'log-fields': {
    headings: ['Field', 'Type', 'Meaning'],
    rows: () => Object.entries(logFields).map(([name, { type, meaning }]) => [code(name), type, meaning]),
  },
}

const marked = /(<!-- generated: ([\w-]+) -->\n)([\s\S]*?)(<!-- end -->)/g

/** The names of the tables that a page has. */
export const tablesIn = (text: string): readonly string[] => [...text.matchAll(marked)].map(([, , name = '']) => name)

/**
 * A page with each table between its markers as the code has it.
 * @throws Error for a marker with an unknown name
 */
export const regenerate = async (text: string): Promise<string> => {
  let written = ''
  let end = 0
  for (const { 0: whole, 1: opening = '', 2: name = '', 3: present = '', 4: closing = '', index } of text.matchAll(
    marked,
  )) {
    const table = tables[name]
    if (table === undefined) throw new Error(`no table is named ${name}`)
    const rows = await table.rows(toPage('', present).tables.flatMap(({ rows }) => rows))
    written += text.slice(end, index) + opening + toMarkdown(table.headings, rows) + closing
    end = index + whole.length
  }
  return written + text.slice(end)
}

const toMarkdown = (headings: readonly string[], rows: Rows): string =>
  [toLine(headings), `|${headings.map(() => '---|').join('')}`, ...rows.map(toLine), ''].join('\n')

const toLine = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
