/** A worker closes the gateway that it built for a configuration and does not serve: its health checks end. */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { encodeConfig } from '../../src/cluster/ipc/config-codec.ts'
import { type PrimaryMessage, type WorkerMessage, workerEnvironment } from '../../src/cluster/messages.ts'
import { acceptedConfig } from '../config/support.ts'
import { startHeldUpstream } from '../gateway/streams/support/held-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { startStrictUpstream } from '../support/recording-upstream.ts'
import type { TestConfig } from '../support/sidegate.ts'

const program = join(import.meta.dirname, '../../src/sidegate.cjs')

/** A gateway that checks its upstream every 20 ms; a check without an answer remains open for a minute. */
const checking = async (t: Test, url: string, changes: TestConfig = {}) =>
  encodeConfig(
    await acceptedConfig(t, {
      store: 'memory:',
      workers: 1,
      plans: { p: { rate: '10/1second' } },
      groupings: [{ name: 'A', upstream: 'a', operations: [{ method: 'GET', path: '/**', credentials: 'none' }] }],
      upstreams: { a: { targets: [url], health: { path: '/healthz', interval: '20ms', timeout: '60s' } } },
      ...changes,
    }),
  )

/** The worker generates an RSA key first, so the next message arrives while it builds. */
const slowToBuild = { tokens: { accessToken: { alg: 'PS256' } } }

/** A worker that serves, and the messages that it has sent since it started to serve. */
const startWorker = async (t: Test) => {
  const served = await startStrictUpstream(t)
  const env = { ...process.env, [workerEnvironment.slot]: '0' }
  const worker = fork(program, ['worker'], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => worker.kill('SIGKILL'))
  const sent: WorkerMessage[] = []
  worker.on('message', (message: WorkerMessage) => sent.push(message))
  const tell = (message: PrimaryMessage): unknown => worker.send(message)
  const hasSent = (type: WorkerMessage['type']): boolean => sent.some(message => message.type === type)
  const config = await checking(t, served.url)
  await eventually(() => hasSent('loaded'))
  tell({ type: 'configure', config })
  await eventually(() => hasSent('started'))
  sent.length = 0
  return {
    tell,
    hasSent,
    config,
    hasBuilt: (id: number): boolean =>
      sent.some(message => message.type === 'prepared' && message.id === id && message.refusal === undefined),
    /** The checks of the served configuration run at the same interval as those of a configuration not served. */
    untilChecked: async (times: number): Promise<void> => {
      const before = served.requests.length
      await eventually(() => served.requests.length >= before + times)
    },
  }
}

t.test('a configuration is closed when it is discarded after it was built', async t => {
  const worker = await startWorker(t)
  const checked = await startHeldUpstream(t)
  worker.tell({ type: 'propose', id: 1, config: await checking(t, checked.url) })
  await eventually(() => worker.hasBuilt(1) && checked.openConnections() === 1)

  worker.tell({ type: 'abort', id: 1 })

  await eventually(() => checked.openConnections() === 0)
})

t.test('a configuration is closed when the next one is built in its place', async t => {
  const worker = await startWorker(t)
  const [first, second] = [await startHeldUpstream(t), await startHeldUpstream(t)]
  worker.tell({ type: 'propose', id: 1, config: await checking(t, first.url) })
  await eventually(() => worker.hasBuilt(1) && first.openConnections() === 1)

  worker.tell({ type: 'propose', id: 2, config: await checking(t, second.url) })

  await eventually(() => second.openConnections() === 1)
  await eventually(() => first.openConnections() === 0)
})

t.test('a configuration is closed when it is discarded while it is being built', async t => {
  const worker = await startWorker(t)
  const checked = await startStrictUpstream(t)

  worker.tell({ type: 'propose', id: 1, config: await checking(t, checked.url, slowToBuild) })
  worker.tell({ type: 'abort', id: 1 })
  await eventually(() => worker.hasBuilt(1))
  await worker.untilChecked(5)

  t.equal(checked.requests.length, 0)
})

t.test(
  'a configuration is closed when it is adopted before it was built, and the worker requests it again',
  async t => {
    const worker = await startWorker(t)
    const checked = await startStrictUpstream(t)

    worker.tell({ type: 'propose', id: 1, config: await checking(t, checked.url, slowToBuild) })
    worker.tell({ type: 'commit', id: 1 })
    await eventually(() => worker.hasBuilt(1) && worker.hasSent('loaded'))
    worker.tell({ type: 'configure', config: worker.config })
    await worker.untilChecked(5)

    t.equal(checked.requests.length, 0)
  },
)
