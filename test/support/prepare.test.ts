import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { isOlder } from './programs/program.ts'

const prepare = join(import.meta.dirname, 'prepare.ts')
const prepareNode = join(import.meta.dirname, 'prepare-node.sh')

/** With `env -i`, because no other variable of this process may decide. */
const runPrepare = (...environment: readonly string[]): { status: number | null; stdout: string; stderr: string } => {
  const args = ['-i', ...environment, process.execPath, prepare]
  const { status, stdout, stderr } = spawnSync('/usr/bin/env', args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('a machine that has every program is left alone, silently', async t => {
  t.same(runPrepare(`PATH=${process.env.PATH}`), { status: 0, stdout: '', stderr: '' })
})

t.test('if installing is forbidden, one line names the programs that are missing', async t => {
  t.same(runPrepare(`PATH=${t.testdir()}`, 'SIDEGATE_TEST_INSTALL=no'), {
    status: 1,
    stdout: '',
    stderr:
      "the tests need redis-server, chromium, curl, jq, openssl, nginx 1.22 or newer, caddy 2.6 or newer, bwrap (Debian's bubblewrap), script (Debian's bsdutils), promtool (Debian's prometheus), kubectl 1.27 or newer: install them first\n",
  })
})

/** The output of `kubectl version --client` of Debian 12's kubernetes-client. */
const kubectlOfDebian12 =
  'Client Version: version.Info{Major:"1", Minor:"20", GitVersion:"v1.20.2", GitTreeState:"archive", GoVersion:"go1.19.8"}'

t.test('a program that is too old is as missing as one that is absent', async t => {
  const folder = t.testdir({ kubectl: `#!/bin/sh\necho '${kubectlOfDebian12}'\n` })
  chmodSync(join(folder, 'kubectl'), 0o755)

  t.same(runPrepare(`PATH=${folder}${delimiter}${process.env.PATH}`, 'SIDEGATE_TEST_INSTALL=no'), {
    status: 1,
    stdout: '',
    stderr: 'the tests need kubectl 1.27 or newer (this is 1.20.2): install them first\n',
  })
})

t.test('a Node that does not start is explained in one line', async t => {
  const folder = t.testdir({
    node: `#!/bin/sh\necho 'node: error while loading shared libraries: libatomic.so.1' >&2; exit 127\n`,
  })
  const node = join(folder, 'node')
  chmodSync(node, 0o755)
  const run = (program: string) => {
    const env = { PATH: process.env.PATH, SIDEGATE_TEST_INSTALL: 'no' }
    const { status, stdout, stderr } = spawnSync('/bin/sh', [prepareNode, program], { encoding: 'utf8', env })
    return { status, stdout, stderr }
  }

  t.same(run(process.execPath), { status: 0, stdout: '', stderr: '' })
  t.same(run(node), {
    status: 1,
    stdout: '',
    stderr:
      "Node does not start (node: error while loading shared libraries: libatomic.so.1): install it, or Debian's libatomic1, first\n",
  })
})

t.test('versions are compared by their numbers, not as texts', async t => {
  t.equal(isOlder('1.9.5', '1.27'), true)
  t.equal(isOlder('1.26.99', '1.27'), true)
  t.equal(isOlder('1.27', '1.27'), false)
  t.equal(isOlder('1.27.0', '1.27'), false)
  t.equal(isOlder('1.100', '1.27'), false)
  t.equal(isOlder('2.0', '1.27'), false)
})
