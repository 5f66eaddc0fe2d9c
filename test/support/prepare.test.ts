import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const prepare = join(import.meta.dirname, 'prepare.ts')
const nobodyUid = 65534

const runPrepare = (path: string, uid?: number): { status: number | null; stdout: string; stderr: string } => {
  const identity = uid === undefined ? {} : { uid, gid: uid }
  const env = { ...process.env, PATH: path }
  return spawnSync(process.execPath, [prepare], { ...identity, env, encoding: 'utf8', cwd: '/' })
}

t.test('a machine that has every program is left alone, silently', async t => {
  const { status, stdout, stderr } = runPrepare(process.env.PATH ?? '')

  t.match({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
})

t.test('somebody who may not install is told in one line what to install', async t => {
  const isRoot = process.getuid?.() === 0

  const { status, stderr } = runPrepare(t.testdir(), isRoot ? nobodyUid : undefined)

  t.equal(status, 1)
  t.equal(stderr, "the tests need redis-server, chromium, kubernetes-client (Debian's names): install them first\n")
})
