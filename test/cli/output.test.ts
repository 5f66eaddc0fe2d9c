/** Commands whose standard output cannot be written: /dev/full answers every write with ENOSPC. */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { systemClock } from '../../src/clock.ts'
import { openStore } from '../../src/stores/open.ts'
import { hash, makeFolder, publishing, token, writeConfig } from '../config/support.ts'
import { demoConfig, launcher, type Outcome, sidegate } from './run.ts'

/** Runs `sidegate` with its standard output at this file, or at a pipe that has no reader. */
const runInto = async (
  output: string | undefined,
  args: readonly string[],
  input = '',
): Promise<Omit<Outcome, 'stdout'>> => {
  const file = output === undefined ? undefined : openSync(output, 'w')
  const child = spawn(process.execPath, [launcher, ...args], { stdio: ['pipe', file ?? 'pipe', 'pipe'] })
  if (file !== undefined) closeSync(file)
  child.stdout?.destroy()
  child.stdin?.end(input)
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const [stderr, code] = await Promise.all([child.stderr ? text(child.stderr) : '', ended])
  return { stderr, code }
}

const full = { code: 1, stderr: 'sidegate: standard output cannot be written: ENOSPC: no space left on device\n' }

const path = join(makeFolder(t), 'clients.db')
const file = writeConfig(t, { store: `sqlite:${path}`, ...publishing(token) })
const store = await openStore({ kind: 'sqlite', path }, systemClock)
t.teardown(() => store.close())

for (const args of [
  ['--help'],
  ['version'],
  ['schema'],
  ['hash'],
  ['check', '--config', demoConfig],
  ['routes', '--config', demoConfig],
  ['client', 'list', '--config', file],
  ['client', 'new', '--id', 'a', '--grant', 'client_credentials'],
] as const) {
  t.test(`${args.join(' ')}: a failed write is one line and exit code 1`, async t => {
    t.same(await runInto('/dev/full', args, 'a-secret-of-mine'), full)
  })
}

const save = ['client', 'new', '--grant', 'client_credentials', '--save', '--config', file]

for (const [what, output, reason] of [
  ['a full device', '/dev/full', full.stderr],
  ['a pipe without reader', undefined, 'sidegate: standard output cannot be written: write EPIPE\n'],
] as const) {
  t.test(`a client whose secret cannot be written to ${what} is not stored`, async t => {
    t.same(await runInto(output, [...save, '--id', 'lost']), { code: 1, stderr: reason })

    t.equal(await store.clients.find('lost'), undefined)
  })

  t.test(`a client keeps its secret if the next one cannot be written to ${what}`, async t => {
    const client = { client_id: what, client_secret_hash: hash, grant_types: ['client_credentials'] }
    await store.clients.put(what, { members: JSON.stringify(client), disabled: false }, undefined)
    const before = await store.clients.find(what)

    const rotate = ['client', 'rotate-secret', what, '--keep', '0s', '--config', file]
    t.same(await runInto(output, rotate), { code: 1, stderr: reason })

    t.same(await store.clients.find(what), before)
  })
}

t.test('a client that the store knows gets no secret', async t => {
  const first = await sidegate([...save, '--id', 'known'])
  const second = await sidegate([...save, '--id', 'known'])

  t.equal(first.code, 0)
  t.same(second, {
    code: 1,
    stdout: '',
    stderr: 'sidegate: the store has a client "known" already; sidegate client list shows it\n',
  })
})
