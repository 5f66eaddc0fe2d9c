import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { forwarded, publishing, writeConfig } from '../../config/support.ts'
import { demoConfig, launcher, sidegate } from '../run.ts'

t.test('routes prints a row for each way to each operation, in columns', async t => {
  const { code, stdout } = await sidegate(['routes', '--config', demoConfig])

  t.equal(code, 0)
  const rows = stdout.trimEnd().split('\n')
  const [headings = ''] = rows
  t.same(headings.split(/ {2,}/), ['GROUPING', 'VERSION', 'METHOD', 'PATH', 'CALLER', 'PLAN', 'GOES TO'])
  const cells = rows.map(row => row.split(/ {2,}/))
  t.same(cells[1], ['V1_Extension_2', '1.0.0', 'POST', '/token', 'client', 'default-plan 100/1second', 'token'])
  t.same(
    cells.filter(([, , , path]) => path?.endsWith('/oauth2')).map(([, , , path, caller]) => [path, caller]),
    [
      ['/v1/metadata/oauth2', 'client, by query'],
      ['/oauth2', 'client, by query'],
    ],
  )
  const target = 'accounts (http://127.0.0.1:9000)'
  t.same(cells.at(-4), ['Accounts', '1.0.0', 'GET', '/accounts/health', 'public', 'none', target])
  const column = headings.indexOf('PATH')
  t.ok(rows.slice(1).every(row => row.startsWith('/', column)))
})

t.test('operations that Sidegate publishes by default are listed after the configured ones', async t => {
  const { stdout } = await sidegate(['routes', '--config', demoConfig])

  const lines = stdout.trimEnd().split('\n').slice(-3)
  const metadataPath = '/.well-known/oauth-protected-resource/accounts'
  t.same(
    lines.map(line => line.split(/ {2,}/)),
    [
      ['Psd2-V1-Oauth', '1.0.0', 'GET', '/interaction/*', 'public', 'none', 'interaction'],
      ['Psd2-V1-Oauth', '1.0.0', 'POST', '/interaction/*', 'public', 'none', 'interaction'],
      ['Accounts', '1.0.0', 'GET', metadataPath, 'public', 'none', 'resource-metadata'],
    ],
  )
})

t.test('routes shows what another gateway forwards, and where that gateway asks', async t => {
  const sample = join(import.meta.dirname, '../../../deploy/plugins/envoy/sidegate.yaml')
  const { stdout } = await sidegate(['routes', '--config', sample])

  const cells = stdout.split('\n').map(row => row.split(/ {2,}/))
  t.same(
    cells.filter(([grouping]) => grouping === 'Check').map(([, , method, path, , , goal]) => [method, path, goal]),
    [['*', '/check/**', 'check, for envoy']],
  )
  t.ok(cells.some(([grouping, , , , , , goal]) => grouping === 'Accounts' && goal === 'another gateway'))
})

/** The cells of the column PLAN for `GET /items` and `GET /other`. */
const plansShown = async (t: Test, plans: unknown): Promise<readonly (string | undefined)[]> => {
  const config = { ...publishing(forwarded, { ...forwarded, path: '/other' }), plans }
  const { stdout } = await sidegate(['routes', '--config', writeConfig(t, config)])
  const rows = stdout.trimEnd().split('\n').slice(1, 3)
  return rows.map(row => row.split(/ {2,}/)[5])
}

t.test("a plan shows each of its limits, and an operation its own rate in place of the plan's", async t => {
  const plans = {
    gold: {
      rate: '100/1minute',
      quota: '10000/2days',
      burst: '20/1second',
      operations: { 'GET /other': '5/90seconds' },
    },
  }

  const [first, second] = await plansShown(t, plans)

  t.equal(first, 'gold 100/1minute, quota 10000/2days, burst 20/1second')
  t.equal(second, 'gold 5/90seconds, quota 10000/2days, burst 20/1second')
})

t.test('an operation without credentials shows the plan that it names', async t => {
  const plans = { gold: { rate: '100/1hour' }, open: { rate: '10/1minute' } }
  const config = { ...publishing({ ...forwarded, credentials: 'none', plan: 'open' }), plans }
  const { stdout } = await sidegate(['routes', '--config', writeConfig(t, config)])

  t.equal(stdout.split('\n')[1]?.split(/ {2,}/)[5], 'open 10/1minute, by address')
})

t.test('a smooth plan shows its burst if it has one', async t => {
  const [shown] = await plansShown(t, { gold: { rate: '100/1hour', algorithm: 'smooth', burst: 30 } })

  t.equal(shown, 'gold 100/1hour, burst 30')
})

t.test('a bad configuration has no routes', async t => {
  const { code, stdout, stderr } = await sidegate(['routes', '--config', writeConfig(t, 'workers: 0\n')])

  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /workers: must be/)
})

t.test('if the reader of the output closes the pipe, as head does, routes ends without a message', async t => {
  const child = spawn(process.execPath, [launcher, 'routes', '--config', demoConfig])
  child.stdout.destroy()
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])

  t.equal(stderr, '')
  t.equal(code, 0)
})
