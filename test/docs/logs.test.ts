import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { auditActions } from '../../src/telemetry/audit-actions.ts'
import { logEvents } from '../../src/telemetry/log-events.ts'
import { type LogField, logFields } from '../../src/telemetry/log-fields.ts'
import { eventually } from '../support/eventually.ts'
import { startSidegate } from '../support/sidegate.ts'
import { startDemoUpstream } from './demo-upstream.ts'
import { codeOf, readPages, root, rowsOf } from './markdown.ts'

const docs = readPages('docs')

/** The code, without the catalogue itself. */
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts') && !path.endsWith('log-events.ts'))
  .map(path => readFileSync(join(root, 'src', path), 'utf8'))

interface Declared {
  readonly fields: readonly string[]
  readonly optional: readonly string[]
}

t.test('every event of the catalogue is logged, and every field is one of some line', async t => {
  const written = sources.join('\n')
  const entries: readonly Declared[] = [...Object.values(logEvents), ...Object.values(auditActions)]
  const used = new Set(entries.flatMap(({ fields, optional }) => [...fields, ...optional]))

  t.same(
    Object.keys(logEvents).filter(event => !new RegExp(`event"?: ?['"]${event}|"event":"${event}`).test(written)),
    [],
  )
  t.same(
    Object.keys(logFields).filter(field => !used.has(field as LogField)),
    [],
  )
})

t.test('every action of an audit line is one that the code tells', async t => {
  const written = sources.filter(text => !text.includes('export const auditActions')).join('\n')
  /** Of some the last word is put together: `sign_in_${…}`. */
  const isTold = (action: string): boolean =>
    written.includes(`'${action}'`) || written.includes(`\`${action.replace(/_[a-z]+$/, '_$${')}`)

  t.same(
    Object.keys(auditActions).filter(action => !isTold(action)),
    [],
  )
})

t.test('an audit line has the fields that a line of its event may have', async t => {
  const mayHave: readonly string[] = [...logEvents.audit.fields, ...logEvents.audit.optional]

  const fields = Object.values<Declared>(auditActions).flatMap(({ fields, optional }) => [...fields, ...optional])
  t.same(
    fields.filter(field => !mayHave.includes(field)),
    [],
  )
})

t.test('access lines are as the documentation has them', async t => {
  const gateway = await startSidegate(t, {
    workers: 1,
    store: 'memory:',
    groupings: [
      { name: 'OAuth', operations: [{ method: 'POST', path: '/token', serves: 'token' }] },
      { name: 'Accounts', upstream: 'accounts', operations: [{ method: 'GET', path: '/accounts' }] },
    ],
    upstreams: { accounts: { targets: [await startDemoUpstream(t)] } },
    clients: [{ client_id: 'one', client_secret: 'one-secret', grant_types: ['client_credentials'] }],
  })
  const body = new URLSearchParams({ grant_type: 'client_credentials' })
  const authorization = `Basic ${btoa('one:one-secret')}`
  const answer = await fetch(`${gateway.url}/token`, { method: 'POST', body, headers: { authorization } })
  const { access_token } = (await answer.json()) as { access_token: string }
  await fetch(`${gateway.url}/accounts`, { headers: { authorization: `Bearer ${access_token}` } })
  await fetch(`${gateway.url}/nowhere`)
  const lineOf = (path: string): string | undefined => gateway.output.find(line => line.includes(`"path":"${path}"`))
  await eventually(() => lineOf('/accounts') && lineOf('/nowhere'))

  t.test('with every field, and no other', async t => {
    const fields = Object.keys(JSON.parse(lineOf('/accounts') ?? '{}'))
    const documented = rowsOf(docs, 'Field', 'Meaning').flatMap(([field]) => codeOf(field))
    t.same(documented, fields)
  })

  t.test('and are found by the command that it names', async t => {
    const blocks = docs.flatMap(page => page.blocks)
    const command = blocks.find(({ text }) => text.includes('| jq'))?.text ?? ''
    const filter = command.slice(command.indexOf('jq'))

    const found = spawnSync('sh', ['-c', filter], { input: gateway.output.join('\n'), encoding: 'utf8' })

    t.equal(found.stderr, '')
    t.equal(found.stdout, `${lineOf('/nowhere')}\n`)
  })
})
