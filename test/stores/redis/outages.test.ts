import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { mostCertainInAnyWindow } from '../../conformance/oracle.ts'
import { newCharge } from '../../support/charges.ts'
import { startDelayingProxy } from '../../support/delaying-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { type RunningRedis, startRedis } from '../../support/redis.ts'
import {
  admissionsOf,
  chargeSteadily,
  longestWaitMs,
  openWorker,
  openWorkers,
  shareOfStore,
  undisturbed,
} from './support/workers.ts'

const windowMs = 1000
const redis = await startRedis(t)

t.test('a Redis 20 ms away keeps plans exactly', async t => {
  const proxy = await startDelayingProxy(t, redis.port, 20)

  const verdicts = await undisturbed(async () => {
    const workers = await openWorkers(t, `redis://127.0.0.1:${proxy.port}`, 2)
    const run = chargeSteadily(t, workers, newCharge(50))
    await eventually(() => run.verdicts.length > 400)
    return run.stop()
  })

  t.equal(shareOfStore(verdicts), 1)
  t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 50)
  t.ok(admissionsOf(verdicts).length >= 50)
})

t.test('a Redis that pauses its clients delays no charge for long, and continues its count afterwards', async t => {
  const workers = await openWorkers(t, redis.url, 2)
  const run = chargeSteadily(t, workers, newCharge(50))
  await eventually(() => run.verdicts.length > 100)

  await redis.client.client('PAUSE', 2000)
  await eventually(() => workers.every(({ changes }) => changes[0] === false))
  await eventually(() => workers.every(({ changes }) => changes.at(-1)))
  await eventually(() => run.verdicts.at(-1)?.verdict.source === 'store')

  const verdicts = await run.stop()
  t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 100, 'at most one plan more around the outage')
  t.ok(longestWaitMs(verdicts) < 1000, 'one time-out, with slack for a busy machine')
})

for (const [name, refuse, relent] of [
  ['is full', { maxmemory: '1' }, { maxmemory: '0' }],
  ['lacks replicas', { 'min-replicas-to-write': '1' }, { 'min-replicas-to-write': '0' }],
] as const) {
  t.test(`a Redis that answers and ${name} counts as away until it takes writes, reported once`, async t => {
    const redis = await startRedis(t)
    const set = (values: Readonly<Record<string, string>>) =>
      redis.client.config('SET', ...(Object.entries(values)[0] ?? ['', '']))
    const worker = await openWorker(t, redis.url)
    const run = chargeSteadily(t, [worker], newCharge(50))
    await eventually(() => run.verdicts.length > 20)

    await set(refuse)
    await eventually(() => worker.changes.length === 1)
    // The worker probes Redis several times meanwhile, and no probe may count Redis as back.
    const before = run.verdicts.length
    await eventually(() => run.verdicts.length > before + 300)
    t.same(worker.changes, [false])
    await set(relent)
    await eventually(() => run.verdicts.at(-1)?.verdict.source === 'store')

    t.same(worker.changes, [false, true])
    await run.stop()
  })
}

t.test('a worker that paused itself does not count Redis as silent', async t => {
  const { limiter, changes } = await openWorker(t, redis.url)
  const charge = newCharge(50)

  for (let times = 0; times < 5; times++) {
    const verdict = limiter.charge(charge)
    await setImmediate()
    standStill(100)

    t.equal((await verdict).source, 'store')
  }
  t.same(changes, [])
})

/** Blocks the process, as the kernel does when a process has used up its share of the CPU. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

for (const [name, reason, load] of [
  [
    'starts with its data',
    /not connected to Redis at .*: it ended the connection|ECONN/,
    async (redis: RunningRedis) => {
      await redis.client.save()
      await redis.kill()
      await redis.start()
    },
  ],
  ['reads its data anew', /^LOADING /, async ({ client }: RunningRedis) => void (await client.call('DEBUG', 'RELOAD'))],
] as const) {
  t.test(`a Redis that ${name} counts as away until all data is loaded`, async t => {
    const redis = await startRedis(t, slowToLoad)
    await redis.client.eval(`for i = 1, 500 do redis.call('SET', 'key' .. i, string.rep('x', 1000)) end`, 0)
    const workers = await openWorkers(t, redis.url, 2)
    const run = chargeSteadily(t, workers, newCharge(50))
    await eventually(() => run.verdicts.length > 100)

    await load(redis)
    await eventually(() => workers.every(({ changes }) => changes.at(-1)))
    await eventually(() => run.verdicts.at(-1)?.verdict.source === 'store')

    const verdicts = await run.stop()
    t.ok(mostCertainInAnyWindow(admissionsOf(verdicts), windowMs) <= 100, 'at most one plan more around the outage')
    t.ok(longestWaitMs(verdicts) < 1000, 'one time-out, with slack for a busy machine')
    for (const { changes, reasons } of workers) {
      t.same([changes[0], changes.at(-1)], [false, true])
      t.match(reasons[0], reason)
    }
  })
}

/** Redis takes two milliseconds to load each key, and answers commands with an error meanwhile. */
const slowToLoad = [
  ...['--key-load-delay', '2000'],
  ...['--loading-process-events-interval-bytes', '1024'],
  ...['--rdbcompression', 'no'],
  ...['--enable-debug-command', 'yes'],
]
