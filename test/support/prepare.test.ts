import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const prepare = join(import.meta.dirname, 'prepare.ts')

/** With `env -i`, since nothing of this process's environment but what is named here may decide. */
const runPrepare = (...environment: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync('/usr/bin/env', ['-i', ...environment, process.execPath, prepare], { encoding: 'utf8' })

t.test('a machine that has every program is left alone, silently', async t => {
  const { status, stdout, stderr } = runPrepare(`PATH=${process.env.PATH}`)

  t.match({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})

t.test('who does not want them installed is told in one line what to install', async t => {
  const { status, stderr } = runPrepare(`PATH=${t.testdir()}`, 'SIDEGATE_TEST_INSTALL=no')

  t.equal(status, 1)
  t.equal(
    stderr,
    "the tests need redis-server, chromium, kubernetes-client, curl, jq, openssl, nginx, caddy, bubblewrap, prometheus (Debian's names): install them first\n",
  )
})
