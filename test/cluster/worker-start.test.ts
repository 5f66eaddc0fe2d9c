import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeConfig } from '../../src/cluster/ipc/config-codec.ts'
import { type PrimaryMessage, type WorkerMessage, workerEnvironment } from '../../src/cluster/messages.ts'
import { bindListeners } from '../../src/cluster/supervisor/reuseport-sockets.ts'
import { WorkerPool } from '../../src/cluster/supervisor/worker-pool.ts'
import { createClients } from '../../src/oauth/clients/configured-clients.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { createRecorder } from '../../src/telemetry/recorder.ts'
import { acceptedConfig, makeFolder } from '../config/support.ts'
import { eventually } from '../support/eventually.ts'

const program = join(import.meta.dirname, '../../src/sidegate.cjs')

t.test('a worker that cannot start sends the reason to its primary, logs nothing itself, and exits', async t => {
  const file = join(makeFolder(t), 'file')
  writeFileSync(file, '')
  const config = await acceptedConfig(t, { store: `sqlite:${file}/sidegate.db` })
  const env = { ...process.env, [workerEnvironment.slot]: '0' }
  const worker = fork(program, ['worker'], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  t.teardown(() => worker.kill('SIGKILL'))
  const printed: string[] = []
  for (const stream of [worker.stdout, worker.stderr]) stream?.on('data', (bytes: Buffer) => printed.push(`${bytes}`))
  const [asking] = await once(worker, 'message')
  t.same(asking, { type: 'loaded' })

  worker.send({ type: 'configure', config: encodeConfig(config) } satisfies PrimaryMessage)
  const [[message], [code]] = await Promise.all([once(worker, 'message'), once(worker, 'close')])

  t.match(message, { type: 'failed', reason: /^the store sqlite:\S+ cannot be opened: / })
  t.equal(code, 1)
  t.same(printed, [])
})

t.test('a worker that is still building when another configuration is adopted requests that one first', async t => {
  const config = encodeConfig(await acceptedConfig(t, { store: 'memory:' }))
  const env = { ...process.env, [workerEnvironment.slot]: '0' }
  const worker = fork(program, ['worker'], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => worker.kill('SIGKILL'))
  const tell = (message: PrimaryMessage): unknown => worker.send(message)
  const said: string[] = []
  worker.on('message', ({ type }: WorkerMessage) => said.push(type))
  await eventually(() => said.length === 1)

  tell({ type: 'configure', config })
  tell({ type: 'commit', id: 1 })
  await eventually(() => said.filter(type => type === 'loaded').length === 2)
  t.notOk(said.includes('started'))
  tell({ type: 'configure', config })
  await eventually(() => said.includes('started'))

  t.equal(said.filter(type => type === 'started').length, 1)
})

t.test('a worker that hangs before it can serve is ended, and the start fails with that reason', async t => {
  const hanging = join(makeFolder(t), 'hanging.mjs')
  writeFileSync(hanging, 'setInterval(() => {}, 1000)')
  const listeners = await bindListeners('127.0.0.1', 0, 1, 'http')
  t.teardown(listeners.close)
  const { log } = await createLogger({ level: 'silent', base: {} })
  const gone = Promise.withResolvers<string>()
  cluster.setupPrimary({ exec: hanging })
  const workers = new WorkerPool({
    count: 1,
    listeners,
    privateListener: undefined,
    log,
    recorder: createRecorder(),
    startTimeoutMs: 200,
  })
  t.teardown(() => workers.kill())
  const started = workers.start({
    config: async () => ({ config: {}, clients: createClients([]).pack() }),
    workerTimeoutMs: () => 30_000,
    retireTimeoutMs: () => 0,
    onMessage: () => undefined,
    onGone: gone.resolve,
  })

  await t.rejects(started, new Error('a worker could not start: it did not start within 200 ms'))
  await gone.promise
})
