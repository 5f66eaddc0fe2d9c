import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { proofFaults } from '../../src/errors.ts'
import { eventually } from '../support/eventually.ts'
import { startSidegate } from '../support/sidegate.ts'
import { startDemoUpstream } from './demo-upstream.ts'
import { codeOf, readPage, root, rowsOf } from './markdown.ts'

const readme = readPage('README.md')

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts'))
  .map(path => readFileSync(join(root, 'src', path), 'utf8'))

t.test('the README has every event that is logged, with a level it is logged at, and no other', async t => {
  const logged = sources.flatMap(text =>
    [...text.matchAll(/\blog\.(\w+)\(\s*\{\s*event: '(\w+)'/g)].map(([, level, event]) => `${event} ${level}`),
  )
  const documented = rowsOf(readme, '`event`', 'Level', 'When').map(([event, level]) => `${codeOf(event)[0]} ${level}`)

  t.same(
    documented.filter(row => !logged.includes(row)),
    [],
  )
  const events = (rows: readonly string[]): readonly string[] =>
    [...new Set(rows.map(row => row.split(' ')[0] ?? ''))].sort()
  t.same(events(documented), events(logged))
})

t.test('the README has every field of an access line, and no other', async t => {
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

  const isLine = (line: string): boolean => line.includes('"path":"/accounts"')
  await eventually(() => gateway.output.some(isLine))
  const fields = Object.keys(JSON.parse(gateway.output.find(isLine) ?? '{}'))
  const documented = rowsOf(readme, 'Field', 'Meaning').flatMap(([field]) => codeOf(field))
  t.same(documented, fields)
})

t.test('the README has every reason why a proof is refused, and no other', async t => {
  const documented = rowsOf(readme, '`refused`', 'What is wrong').flatMap(([fault]) => codeOf(fault))

  t.same(documented, proofFaults)
})
