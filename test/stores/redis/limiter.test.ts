import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { testLimiter } from '../../conformance/limiters.ts'
import { mostCertainInAnyWindow, mostInAnyWindow, type SeenAdmission } from '../../conformance/oracle.ts'
import { newId } from '../../conformance/records.ts'
import { newCharge } from '../../support/charges.ts'
import { eventually } from '../../support/eventually.ts'
import { type RunningRedis, startRedis } from '../../support/redis.ts'
import { admissionsOf, chargeSteadily, longestWaitMs, openWorker, openWorkers } from './support/workers.ts'

const windowMs = 1000

/** The key of the log that Redis keeps for a charge under one strict rule. */
const logOf = (key: string): string => `sidegate:limit:{${key}}:strict:rate`

const redis = await startRedis(t)

testLimiter(t, async t => {
  const { limiter } = await openWorker(t, redis.url)
  const elapse = async (ms: number): Promise<void> => {
    const endMs = performance.now() + ms
    while (performance.now() < endMs) await sleep(endMs - performance.now())
  }
  return { limiter, nowMs: () => performance.timeOrigin + performance.now(), elapse }
})

interface Hammered {
  readonly sent: number
  readonly closed: number
  readonly admissions: readonly SeenAdmission[]
}

/** Charges one counter from processes of their own, all at the same time. */
const hammer = async (t: Test, processes: number, key: string, perSecond: number, seconds: number) => {
  const args = [redis.url, key, 100, perSecond / processes, seconds].map(String)
  const hammers = Array.from({ length: processes }, () =>
    fork(join(import.meta.dirname, '../../conformance/hammer.ts'), args),
  )
  t.teardown(() => {
    for (const child of hammers) child.kill('SIGKILL')
  })
  await Promise.all(hammers.map(child => once(child, 'message')))
  const results = hammers.map(child => once(child, 'message'))
  for (const child of hammers) child.send('go')
  return (await Promise.all(results)).map(([result]) => result as Hammered)
}

/** Follows the counter's log in Redis: every admission with the microsecond of Redis time when it was decided. */
const followLog = (t: Test, key: string) => {
  const totalByStamp = new Map<number, number>()
  const look = async (): Promise<void> => {
    for (const entry of await redis.client.lrangeBuffer(logOf(key), 0, -1))
      totalByStamp.set(entry.readDoubleLE(0), entry.readDoubleLE(8))
  }
  const timer = setInterval(look, 100)
  t.teardown(() => clearInterval(timer))
  const stamps = (): number[] => {
    let before = 0
    return [...totalByStamp].flatMap(([stamp, total]) => {
      const admitted = Array<number>(total - before).fill(stamp)
      before = total
      return admitted
    })
  }
  return { look, stamps }
}

t.test(
  'four processes at ten times the plan let in the plan together, in any second by the clock of Redis',
  async t => {
    const run = async () => {
      const key = newId()
      const log = followLog(t, key)
      return { log, results: await hammer(t, 4, key, 1000, 4) }
    }

    let { log, results } = await run()
    // The run does not count if a busy machine delayed Redis by 50 ms.
    for (let again = 0; again < 3 && results.some(({ closed }) => closed > 0); again++) ({ log, results } = await run())

    await log.look()
    const admissions = results.flatMap(result => result.admissions)
    t.ok(
      results.every(({ closed }) => closed === 0),
      'Redis decided each of them',
    )
    t.equal(log.stamps().length, admissions.length, 'the log holds what callers were told')
    t.ok(mostInAnyWindow(log.stamps(), windowMs * 1000) <= 100)
    t.ok(mostCertainInAnyWindow(admissions, windowMs) <= 100)
    t.ok(admissions.length >= 0.97 * 4 * 100, `${admissions.length} of 400 were let in`)
  },
)

t.test('the number of calls to Redis does not grow with the number of requests', async t => {
  const callsWhile = async (perSecond: number): Promise<number> => {
    await redis.client.config('RESETSTAT')
    await hammer(t, 1, newId(), perSecond, 2)
    const stats = await redis.client.info('commandstats')
    return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
  }

  const atTwice = await callsWhile(200)
  const atFifty = await callsWhile(5000)

  t.ok(atFifty <= 1.3 * atTwice, `${atTwice} calls at twice the plan, ${atFifty} at fifty times`)
})

t.test('if Redis loses its scripts, the limiter asks again within the same call', async t => {
  const { limiter, changes } = await openWorker(t, redis.url)
  const charge = newCharge(10)
  for (let i = 0; i < 5; i++) await limiter.charge(charge)
  await redis.client.script('FLUSH')

  const verdicts = await Promise.all(Array.from({ length: 10 }, () => limiter.charge(charge)))

  t.equal(verdicts.filter(({ allowed }) => allowed).length, 5)
  t.ok(verdicts.every(({ source }) => source === 'store'))
  t.same(changes, [])
})

t.test('every counter leaves Redis when its window is over', async t => {
  const { limiter } = await openWorker(t, redis.url)
  const charge = newCharge(2)
  await limiter.charge(charge)
  const key = logOf(charge.key)

  const lifetimeMs = await redis.client.pttl(key)

  t.ok(lifetimeMs > 0 && lifetimeMs <= windowMs)
  await eventually(async () => (await redis.client.exists(key)) === 0)
})

t.test('a counter never holds more than its limit of entries, or half a thousand', async t => {
  const { limiter } = await openWorker(t, redis.url)
  for (const limit of [20, 5000]) {
    const charge = newCharge(limit)
    const endMs = performance.now() + 1500
    while (performance.now() < endMs) {
      await Promise.all(Array.from({ length: 10 }, () => limiter.charge(charge)))
      await setImmediate()
    }

    t.ok((await redis.client.llen(logOf(charge.key))) <= Math.min(limit + 1, 514))
  }
})

for (const [name, stop, start] of [
  ['killed', (server: RunningRedis) => server.kill(), (server: RunningRedis) => server.start()],
  ['silent', (server: RunningRedis) => server.pause(), (server: RunningRedis) => server.resume()],
] as const) {
  t.test(`while Redis is ${name} the workers' shares add up to the plan, and answers come soon`, async t => {
    const redis = await startRedis(t)
    const workers = await openWorkers(t, redis.url, 4)
    const run = chargeSteadily(t, workers, newCharge(50))
    await eventually(() => run.verdicts.length > 200)

    await stop(redis)
    await eventually(() => workers.every(({ changes }) => changes.at(-1) === false))
    const awayFromMs = performance.now()
    await sleep(2500)
    // This is read before the start, because a worker may connect before this test continues.
    const backFromMs = performance.now()
    await start(redis)
    await eventually(() => workers.every(({ changes }) => changes.at(-1) === true))
    await eventually(() => run.verdicts.at(-1)?.verdict.source === 'store')
    const verdicts = await run.stop()

    t.ok(longestWaitMs(verdicts) < 1000, 'one time-out, with slack for a busy machine')
    const admissions = admissionsOf(verdicts)
    const away = admissions.filter(({ sentAtMs }) => sentAtMs > awayFromMs + windowMs && sentAtMs < backFromMs)
    t.ok(mostCertainInAnyWindow(away, windowMs) <= 50)
    t.ok(away.length >= 50, 'the shares together are the plan')
    t.ok(mostCertainInAnyWindow(admissions, windowMs) <= 100, 'at most one plan more around the outage')
    for (const { changes } of workers) t.same([changes[0], changes.at(-1)], [false, true])
  })
}

t.test('a worker that starts without Redis uses its share, reports that, and uses Redis when it comes', async t => {
  const redis = await startRedis(t)
  await redis.kill()
  const { limiter, changes } = await openWorker(t, redis.url, { index: 0, of: 2 })

  const verdicts = Array.from({ length: 10 }, () => limiter.charge(newCharge(2)))

  t.same(changes, [false])
  t.match(verdicts, Array(10).fill({ source: 'local', allowed: true }), 'a verdict, not a promise')
  await redis.start()
  await eventually(async () => (await limiter.charge(newCharge(2))).source === 'store')
})

t.test('while Redis is away, an open plan allows every charge and a closed plan refuses every one', async t => {
  const redis = await startRedis(t)
  const { limiter } = await openWorker(t, redis.url)
  await redis.kill()
  await eventually(async () => (await limiter.charge(newCharge(100))).source === 'local')

  t.match(limiter.charge({ ...newCharge(1), whenStoreFails: 'open' }), { allowed: true, source: 'open' })
  t.match(limiter.charge({ ...newCharge(1), whenStoreFails: 'closed' }), { allowed: false, source: 'closed' })
})
