import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { launcher } from '../cli/run.ts'
import { openPath } from '../cluster/support/gateway.ts'
import { writeConfig } from '../config/support.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { scrape, sumOf } from './support/exposition.ts'

/** More access lines than a pipe holds: 64 KiB, at over 200 bytes a line. */
const requests = 600

t.test('with a reader of its logs that stalls the gateway serves on, and stops in good order', async t => {
  const pipe = join(t.testdir(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const fd = openSync(pipe, constants.O_RDWR)
  t.teardown(() => closeSync(fd))
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const [url, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`]
  const file = writeConfig(t, {
    listen: `127.0.0.1:${port}`,
    admin: `127.0.0.1:${adminPort}`,
    workers: 1,
    store: 'memory:',
    groupings: [{ name: 'Open', operations: [{ method: 'GET', path: openPath, serves: 'jwks', plan: 'none' }] }],
    shutdown: { delay: '0s', timeout: '10s' },
  })
  const child = spawn(process.execPath, [launcher, 'serve', '--config', file], { stdio: ['ignore', fd, 'inherit'] })
  const exited = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  await eventually(async () => (await fetch(`${admin}/readyz`)).ok)

  for (let i = 0; i < requests; i++) await (await fetch(url + openPath)).text()
  t.equal(sumOf(await scrape(admin), 'sidegate_http_requests_total', { code: '200' }), requests)
  child.kill('SIGTERM')

  t.same(await exited, [0, null])
})
