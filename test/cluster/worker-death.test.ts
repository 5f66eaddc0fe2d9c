import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import type { RunningSidegate } from '../support/sidegate.ts'
import { type Exposition, scrape, shrunkBetween, sumOf } from '../telemetry/support/exposition.ts'
import { countServing, logEntries, openPath, startGateway, workerPid } from './support/gateway.ts'
import { type Failure, startLoad } from './support/load.ts'

/** A `kill -9` of one worker. */
interface Kill {
  readonly pid: number
  readonly atMs: number
}

const killOne = (sidegate: RunningSidegate, turn: number): Kill => {
  const pid = workerPid(sidegate, turn)
  process.kill(pid, 'SIGKILL')
  return { pid, atMs: performance.now() }
}

/** The processes that had served the connection before it failed. */
const workersOf = (sidegate: RunningSidegate, failure: Failure): readonly (number | undefined)[] => {
  const pids = new Map(logEntries(sidegate, 'request').map(({ request_id, worker_pid }) => [request_id, worker_pid]))
  return failure.earlierIds.map(id => pids.get(id)).filter(pid => pid !== undefined)
}

/** Scrapes until `stop` is called; resolves to every series whose value ever decreased. */
const watchMetrics = (admin: string) => {
  const shrunk: string[] = []
  let isStopping = false
  const watch = async (): Promise<readonly string[]> => {
    let before: Exposition = await scrape(admin)
    while (!isStopping) {
      const after = await scrape(admin)
      shrunk.push(...shrunkBetween(before, after))
      before = after
    }
    return shrunk
  }
  const watched = watch()
  return {
    stop() {
      isStopping = true
      return watched
    },
  }
}

t.test('twenty workers killed under load: a connection to any other worker does not fail', async t => {
  const sidegate = await startGateway(t, { workers: 4 })
  const url = sidegate.url + openPath
  const load = startLoad({ url, keeping: 8, opening: 4, pauseMs: 10 })
  const metrics = watchMetrics(sidegate.admin)
  await eventually(() => load.answers.length > 100)

  const kills: Kill[] = []
  while (kills.length < 20) {
    await eventually(async () => (await countServing(sidegate)) >= 2 && sidegate.workerPids().length >= 2)
    kills.push(killOne(sidegate, kills.length))
    // Until the primary has seen the exit, the process counts as running, and the next kill could hit it again.
    await eventually(() => logEntries(sidegate, 'worker_died').length === kills.length)
    const answered = load.answers.length
    await eventually(() => load.answers.length > answered + 20)
  }
  await load.stop()
  const shrunk = await metrics.stop()

  t.same(
    load.failures.filter(({ code }) => code === 'timeout'),
    [],
    'every client got an answer or an error',
  )
  t.ok(load.answers.every(({ status }) => status === 200))
  const killed = new Set<number | undefined>(kills.map(({ pid }) => pid))
  for (const failure of load.failures) {
    t.ok(
      workersOf(sidegate, failure).every(pid => killed.has(pid)),
      `${failure.code}: the connection was in a worker that was killed`,
    )
    t.ok(
      kills.some(({ atMs }) => atMs <= failure.endedAtMs),
      'the request failed because of a kill',
    )
  }
  t.same(shrunk, [], 'no counter ever decreased')

  await eventually(async () => (await countServing(sidegate)) === 4, 40_000)
  const quiet = await scrape(sidegate.admin)
  const restarts = sumOf(quiet, 'sidegate_worker_restarts_total', { reason: 'signal' })
  t.equal(restarts, 20)
  t.equal(logEntries(sidegate, 'worker_died').length, 20)

  for (let i = 0; i < 50; i++) await fetch(url)
  const counted = sumOf(await scrape(sidegate.admin), 'sidegate_http_requests_total')
  t.equal(counted - sumOf(quiet, 'sidegate_http_requests_total'), 50, 'the counts are exact when the load has ended')
  t.equal(sumOf(quiet, 'sidegate_http_requests_in_flight'), 0)
})

t.test('connections in the accept queue of a worker that dies are served by another worker', async t => {
  const sidegate = await startGateway(t, { workers: 2 })
  const pid = workerPid(sidegate)
  process.kill(pid, 'SIGSTOP')

  const asked = Array.from({ length: 40 }, () => fetch(sidegate.url + openPath, { headers: { connection: 'close' } }))
  let answered = 0
  for (const answer of asked) answer.then(() => answered++)
  await eventually(() => answered > 5)
  t.ok(answered < asked.length, 'some requests wait for the stopped worker')
  process.kill(pid, 'SIGKILL')
  const answers = await Promise.all(asked)

  t.ok(answers.every(({ status }) => status === 200))
})

t.test('all workers killed at once: connections wait and are served', async t => {
  const sidegate = await startGateway(t)
  const load = startLoad({ url: sidegate.url + openPath, keeping: 4, opening: 4, pauseMs: 20 })
  await eventually(() => load.answers.length > 50)

  for (const pid of sidegate.workerPids()) process.kill(pid, 'SIGKILL')
  const killedAtMs = performance.now()
  const first = await fetch(sidegate.url + openPath)
  await eventually(async () => (await countServing(sidegate)) === 2)
  await load.stop()

  t.equal(first.status, 200)
  const reset = load.failures.filter(({ startedAtMs }) => startedAtMs < killedAtMs)
  t.ok(reset.length <= 8, 'each client loses one connection at most')
  t.ok(load.failures.every(({ code }) => code !== 'timeout' && code !== 'ECONNREFUSED'))
})

t.test('a scrape answers at once while a worker is stopped, and shows the counts of that worker', async t => {
  const sidegate = await startGateway(t)
  for (let i = 0; i < 30; i++) await fetch(sidegate.url + openPath, { headers: { connection: 'close' } })
  const before = await scrape(sidegate.admin)
  t.equal(sumOf(before, 'sidegate_http_requests_total'), 30)
  const pid = workerPid(sidegate)
  process.kill(pid, 'SIGSTOP')
  t.teardown(() => process.kill(pid, 'SIGCONT'))

  const startedAtMs = performance.now()
  const after = await scrape(sidegate.admin)

  // A tenth of a second, plus the time of the scrape itself on a busy machine.
  t.ok(performance.now() - startedAtMs < 5000)
  t.same(shrunkBetween(before, after), [])
  t.equal(sumOf(after, 'sidegate_http_requests_total'), 30)
  // A worker that sends nothing for three seconds does not count as serving.
  const unresponsive = logEntries(sidegate, 'worker_unresponsive').length
  t.ok(sumOf(after, 'sidegate_workers') >= 2 - unresponsive)
})

t.test(
  'a worker that dies at once again and again is replaced after growing delays, while the others serve',
  async t => {
    const sidegate = await startGateway(t, { workers: 2 })
    const store = join(sidegate.dir, 'sidegate.db')
    renameSync(store, `${store}.away`)
    mkdirSync(store)
    const pid = workerPid(sidegate)

    process.kill(pid, 'SIGKILL')
    await eventually(() => logEntries(sidegate, 'worker_died').length >= 4)

    const [killed, ...failed] = logEntries(sidegate, 'worker_died')
    t.notOk(killed?.reason)
    for (const { reason } of failed) t.match(reason, /^the store sqlite:\S+ cannot be opened: /)
    const growing = failed.map(({ replaced_in_ms }) => replaced_in_ms)
    const delays = [killed?.replaced_in_ms, ...growing]
    t.ok(growing.every((delay, index) => Number(delay) > Number(delays[index])))
    // The kernel puts each connection into the queue of one of the two sockets: in all but one of 65,536 runs some
    // connection enters that of the dead worker.
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => fetch(sidegate.url + openPath, { signal: AbortSignal.timeout(20_000) })),
    )
    t.same(
      answers.map(({ status }) => status),
      answers.map(() => 200),
    )
    t.equal(await countServing(sidegate), 1)

    rmdirSync(store)
    renameSync(`${store}.away`, store)
    await eventually(async () => (await countServing(sidegate)) === 2)
  },
)
