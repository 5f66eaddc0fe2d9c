import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { parseExposition } from '../../../src/cli/top/prometheus-text.ts'
import { scrape } from '../../../src/cli/top/scrape.ts'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { listenLocally } from '../../support/local-server.ts'
import { startSidegate } from '../../support/sidegate.ts'
import { launcher, sidegate } from '../run.ts'
import { onTerminal } from './terminal.ts'

const adminPort = await findFreePort()
const running = await startSidegate(t, {
  admin: `127.0.0.1:${adminPort}`,
  workers: 2,
  plans: { small: { rate: '1/1hour' } },
  groupings: [
    { name: 'OAuth', operations: [{ method: 'POST', path: '/token', serves: 'token', plan: 'none' }] },
    { name: 'Limited', operations: [{ method: 'POST', path: '/introspect', serves: 'introspect' }] },
    { name: 'Dead', upstream: 'dead', operations: [{ method: 'GET', path: '/dead', credentials: 'none' }] },
  ],
  upstreams: { dead: { targets: ['http://127.0.0.1:1'], outlierDetection: { failures: 0 } } },
  clients: [{ client_id: 'app', client_secret: 'app-secret', grant_types: ['client_credentials'] }],
})

const authorization = `Basic ${Buffer.from('app:app-secret').toString('base64')}`
const post = (path: string, form: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(running.url + path, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) })

/** Sends requests to every operation, repeatedly, until the returned function is called. */
const startLoad = (): (() => Promise<void>) => {
  let isOn = true
  const run = async (): Promise<void> => {
    while (isOn) {
      const answers = [
        post('/token', { grant_type: 'client_credentials' }),
        post('/introspect', { token: 'x' }),
        fetch(`${running.url}/dead`),
      ]
      for (const answer of await Promise.all(answers)) await answer.arrayBuffer()
    }
  }
  const ended = run()
  return () => {
    isOn = false
    return ended
  }
}

t.test('every sample of the admin port is read', async t => {
  const text = await (await fetch(`${running.admin}/metrics`)).text()

  const samples = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  t.ok(samples.length > 20)
  t.equal(parseExposition(text).size, samples.length)
})

t.test('--once waits for one interval and prints what happened in it', async t => {
  const stop = startLoad()
  t.teardown(stop)
  const { code, stdout, stderr } = await sidegate([
    'top',
    '--admin',
    new URL(running.admin).host,
    '--every',
    '2s', // each worker asks the store every 750 ms
    '--once',
  ])

  t.equal(code, 0)
  t.equal(stderr, '')
  t.match(stdout, /^http:\/\/127\.0\.0\.1:\d+ {2}\d{4}-\d\d-\d\dT/)
  t.match(stdout, /\nsidegate \d+\.\d+\.\d+ {2}workers 2 {2}restarts 0 {2}tokens [1-9]/)
  t.match(stdout, /\nstore sqlite up {2}calls [1-9]/)
  t.match(stdout, /\nOAuth +[1-9]\S* +0 +0 +\d\S*s +\d\S*s +0 +0\n/, 'the answers and their durations')
  t.match(stdout, /\nLimited +[1-9]\S* +100 +0 +\d\S*s +\d\S*s +[1-9]\S* +0\n/, 'refusals of the plan')
  t.match(stdout, /\nDead +[1-9]\S* +0 +100 /, 'errors')
  t.match(stdout, /\ndead +0 +[1-9]\S* +- +- +1 +0 +0\n/, 'failures of an upstream')
  t.notMatch(stdout, '\u001b')
})

t.test('if the admin port cannot be reached, --once fails and prints the reason', async t => {
  const { code, stdout, stderr } = await sidegate(['top', '--admin', 'http://127.0.0.1:1', '--once'])

  t.equal(code, 1)
  t.equal(stdout, '')
  t.equal(stderr, 'sidegate: http://127.0.0.1:1/metrics cannot be reached (HTTP clients do not connect to this port)\n')
})

t.test('if the connection is refused, --once prints that reason', async t => {
  const admin = `http://127.0.0.1:${await findFreePort()}`
  const { code, stdout, stderr } = await sidegate(['top', '--admin', admin, '--once'])

  t.same(
    { code, stdout, stderr },
    { code: 1, stdout: '', stderr: `sidegate: ${admin}/metrics cannot be reached (ECONNREFUSED)\n` },
  )
})

t.test('top refuses an address that is not an admin port, such as the traffic port of Sidegate', async t => {
  const { code, stderr } = await sidegate(['top', '--admin', running.url, '--once'])

  t.equal(code, 1)
  t.match(stderr, /\/metrics answers 404; check --admin\n$/)
})

t.test('top stops reading an answer that is larger than that of any admin port', async t => {
  const bomb = gzipSync(Buffer.alloc(70e6, 'sidegate_x 1\n'))
  const server = createServer((_, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  const url = `http://127.0.0.1:${await listenLocally(t, server, [])}`

  await t.rejects(scrape(url, new AbortController().signal), {
    message: `${url}/metrics sends more than 64 MB, which Sidegate does not read; check --admin`,
  })
})

t.test('top prints into a pipe after each interval, and ends when the reader closes the pipe', async t => {
  const args = [launcher, 'top', '--admin', running.admin, '--every', '100ms']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise(resolve => child.once('close', resolve))
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))

  await eventually(() => output.split('GROUPING').length > 2)
  child.stdout.destroy()
  t.equal(await exited, 0)
})

t.test('on a terminal top redraws in place, follows the width, and restores the terminal at the end', async t => {
  const stop = startLoad()
  t.teardown(stop)
  const terminal = onTerminal(t, ['top', '--admin', running.admin, '--every', '200ms'])
  await eventually(() => terminal.screen().some(line => /^OAuth +[1-9]/.test(line)))
  t.ok(terminal.output().includes('\u001b[?1049h\u001b[?25l'), 'an alternate screen without cursor')
  t.ok(terminal.output().includes('\u001b[1;31m'), 'colours')

  terminal.resize(30)
  await eventually(() => terminal.screen().some(line => /^GROUPING +REQ\/S .*\w$/.test(line) && line.length <= 30))
  t.ok(terminal.screen().every(line => line.length <= 30))

  terminal.type('q')
  t.equal(await terminal.exited, 0)
  t.ok(terminal.output().endsWith('\u001b[?25h\u001b[?1049l'), 'the terminal is restored')
})

t.test('with NO_COLOR the output has no colours, and Ctrl-C ends top normally', async t => {
  const terminal = onTerminal(t, ['top', '--admin', running.admin, '--every', '200ms'], { NO_COLOR: '1' })
  await eventually(() => terminal.screen().some(line => /^OAuth /.test(line)))

  terminal.type('\u0003')
  t.equal(await terminal.exited, 0)
  t.notMatch(terminal.output(), /\[[\d;]*m/)
  t.ok(terminal.output().endsWith('\u001b[?25h\u001b[?1049l'))
})

t.test('top reconnects when the admin port is available again', async t => {
  const terminal = onTerminal(t, ['top', '--admin', running.admin, '--every', '200ms'])
  await eventually(() => terminal.screen().some(line => /^OAuth /.test(line)))

  running.kill('SIGKILL')
  await running.exited
  await eventually(() => /cannot be reached \(\w+\); trying again/.test(terminal.screen()[1] ?? ''))
  t.ok(
    terminal.screen().some(line => /^OAuth /.test(line)),
    'the last known values are still shown',
  )

  await startSidegate(t, { admin: `127.0.0.1:${adminPort}`, workers: 1 })
  await eventually(() => /^sidegate .* workers 1 /.test(terminal.screen()[1] ?? ''))
  terminal.kill('SIGQUIT')
  t.equal(await terminal.exited, 0)
  t.ok(terminal.output().endsWith('\u001b[?25h\u001b[?1049l'))
})
