import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../../support/eventually.ts'
import type { RunningSidegate } from '../../support/sidegate.ts'
import { scrape, sumOf } from '../../telemetry/support/exposition.ts'
import { countServing, logEntries, openPath, startGateway, workerPid } from '../support/gateway.ts'
import { type Load, startLoad } from '../support/load.ts'
import { publishing, startSlowUpstream } from '../support/slow-upstream.ts'

/** About a thousand requests a second if the machine is fast enough, all on kept-alive connections. */
const keepAsking = (sidegate: RunningSidegate): Load =>
  startLoad({ url: sidegate.url + openPath, keeping: 20, opening: 0, pauseMs: 15 })

const seeAnswers = async (load: Load, count: number): Promise<void> => {
  const before = load.answers.length
  await eventually(() => load.answers.length > before + count)
}

t.test('all workers are replaced under load, and not one request fails', async t => {
  const sidegate = await startGateway(t, { workers: 2 })
  const before = sidegate.workerPids()
  const load = keepAsking(sidegate)
  await seeAnswers(load, 500)

  sidegate.kill('SIGUSR2')
  await eventually(() => logEntries(sidegate, 'workers_replaced').length === 1)
  await eventually(() => before.every(pid => !sidegate.workerPids().includes(pid)))
  await seeAnswers(load, 500)
  await load.stop()

  t.same(load.failures, [])
  t.ok(load.answers.every(({ status }) => status === 200))
  t.equal(sidegate.workerPids().length, 2)
  t.equal(await countServing(sidegate), 2)
  t.same(logEntries(sidegate, 'worker_died'), [])
  const metrics = await scrape(sidegate.admin)
  t.equal(sumOf(metrics, 'sidegate_http_requests_total'), load.answers.length, 'every request is counted')
  t.equal(sumOf(metrics, 'sidegate_http_requests_in_flight'), 0)
})

t.test('a request in flight in a worker that is replaced is answered, and its connection is closed', async t => {
  const upstream = await startSlowUpstream(t)
  const sidegate = await startGateway(t, { ...publishing(upstream), workers: 1 })
  const [before] = sidegate.workerPids()
  const asked = fetch(`${sidegate.url}/slow`)
  await eventually(() => upstream.waiting() === 1)

  sidegate.kill('SIGUSR2')
  await eventually(() => logEntries(sidegate, 'workers_replaced').length === 1)
  t.ok(
    sidegate.workerPids().some(pid => pid === before),
    'the worker waits for the answer',
  )
  upstream.answerAll()

  const answer = await asked
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('connection'), 'close')
  await eventually(() => !sidegate.workerPids().some(pid => pid === before))
})

t.test('if a new worker cannot serve, the old workers are kept', async t => {
  const sidegate = await startGateway(t, { workers: 2 })
  const before = sidegate.workerPids()
  const store = join(sidegate.dir, 'sidegate.db')
  renameSync(store, `${store}.away`)
  mkdirSync(store)

  sidegate.kill('SIGUSR2')
  await eventually(() => logEntries(sidegate, 'rolling_restart_failed').length === 1)
  t.match(logEntries(sidegate, 'rolling_restart_failed'), [
    { reason: /^a new worker cannot serve: the store sqlite:\S+ cannot be opened/ },
  ])
  t.same(sidegate.workerPids(), before)
  t.equal((await fetch(sidegate.url + openPath)).status, 200)

  rmdirSync(store)
  renameSync(`${store}.away`, store)
  sidegate.kill('SIGUSR2')
  await eventually(() => logEntries(sidegate, 'workers_replaced').length === 1)
  t.same(logEntries(sidegate, 'worker_died'), [])
})

t.test('a rolling restart is refused if the store is in the memory of the worker', async t => {
  const sidegate = await startGateway(t, { workers: 1, store: 'memory:' })
  const before = sidegate.workerPids()

  sidegate.kill('SIGUSR2')
  await eventually(() => logEntries(sidegate, 'rolling_restart_failed').length === 1)
  t.match(logEntries(sidegate, 'rolling_restart_failed'), [
    { reason: /^with store: memory: a new worker would begin without/ },
  ])
  t.same(sidegate.workerPids(), before)
  t.same(logEntries(sidegate, 'workers_replaced'), [])
})

t.test('when a worker is killed under load, only its own requests fail', async t => {
  const sidegate = await startGateway(t, { workers: 2 })
  const load = keepAsking(sidegate)
  await seeAnswers(load, 500)
  const pid = workerPid(sidegate)

  process.kill(pid, 'SIGKILL')
  await seeAnswers(load, 500)
  await eventually(async () => (await countServing(sidegate)) === 2)
  await load.stop()

  const workers = new Map(logEntries(sidegate, 'request').map(entry => [entry.request_id, entry.worker_pid]))
  for (const { code, earlierIds } of load.failures) {
    t.ok(
      earlierIds.length > 0 && earlierIds.every(id => (workers.get(id) ?? pid) === pid),
      `${code}: the request was in the killed worker`,
    )
  }
  t.ok(load.failures.length <= 20, 'each client loses one request at most')
  t.ok(load.answers.every(({ status }) => status === 200))
})
