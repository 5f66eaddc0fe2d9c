import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import type { RunningSidegate } from '../support/sidegate.ts'
import { scrape, sumOf } from '../telemetry/support/exposition.ts'
import { countServing, logEntries, openPath, startGateway, workerPid } from './support/gateway.ts'

/** A workerTimeout so long that a stopped worker is not killed before the test continues it. */
const never = '1d'

const stop = (t: Test, pid: number): void => {
  process.kill(pid, 'SIGSTOP')
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // The process has exited.
    }
  })
}

/** Concurrent requests, each on its own connection, so that the kernel spreads them over both sockets. */
const ask = (sidegate: RunningSidegate, times: number): Promise<readonly number[]> =>
  Promise.all(
    Array.from({ length: times }, async () => {
      const answer = await fetch(sidegate.url + openPath, { headers: { connection: 'close' } })
      await answer.arrayBuffer()
      return answer.status
    }),
  )

const isReady = async (sidegate: RunningSidegate): Promise<boolean> => (await fetch(`${sidegate.admin}/readyz`)).ok

const requestsOf = (sidegate: RunningSidegate, pid: number): number =>
  logEntries(sidegate, 'request').filter(({ worker_pid }) => worker_pid === pid).length

t.test('while a worker is stopped, another one accepts from its socket, until the worker continues', async t => {
  const sidegate = await startGateway(t, { workers: 2, workerTimeout: never })
  const pid = workerPid(sidegate)

  stop(t, pid)
  const early = ask(sidegate, 40)
  await eventually(async () => (await countServing(sidegate)) === 1)
  t.same(new Set(await early), new Set([200]), 'connections in its accept queue are answered')
  t.same(new Set(await ask(sidegate, 40)), new Set([200]))
  t.ok(await isReady(sidegate))
  t.equal(sumOf(await scrape(sidegate.admin), 'sidegate_workers'), 1)
  await eventually(() => logEntries(sidegate, 'worker_unresponsive').length === 1)
  t.equal(logEntries(sidegate, 'worker_unresponsive')[0]?.worker_pid, pid)

  process.kill(pid, 'SIGCONT')
  await eventually(async () => (await countServing(sidegate)) === 2)
  await eventually(() => logEntries(sidegate, 'worker_responsive').length === 1)
  const before = requestsOf(sidegate, pid)
  t.same(new Set(await ask(sidegate, 40)), new Set([200]))
  await eventually(() => requestsOf(sidegate, pid) > before)
  t.equal(logEntries(sidegate, 'worker_died').length, 0)
})

t.test('the gateway is not ready while every worker is stopped, and is ready again when one continues', async t => {
  const sidegate = await startGateway(t, { workers: 2, workerTimeout: never })

  for (const pid of sidegate.workerPids()) stop(t, pid)
  await eventually(async () => !(await isReady(sidegate)))
  process.kill(workerPid(sidegate), 'SIGCONT')

  await eventually(() => isReady(sidegate))
  t.same(new Set(await ask(sidegate, 20)), new Set([200]), 'that worker accepts from both sockets')
})

t.test('a worker that is stopped for workerTimeout is killed and replaced', async t => {
  const sidegate = await startGateway(t, { workers: 2, workerTimeout: '5s' })
  const pid = workerPid(sidegate)

  stop(t, pid)
  await eventually(() => logEntries(sidegate, 'worker_died').length === 1)
  await eventually(async () => (await countServing(sidegate)) === 2)

  const [died] = logEntries(sidegate, 'worker_died')
  t.equal(died?.worker_pid, pid)
  t.equal(died?.reason, 'it did not respond for 5000 ms')
  t.equal(sumOf(await scrape(sidegate.admin), 'sidegate_worker_restarts_total', { reason: 'timeout' }), 1)
  t.notOk(sidegate.workerPids().includes(pid))
  t.same(new Set(await ask(sidegate, 40)), new Set([200]))
})

t.test('the time in which the primary itself was stopped does not count against the workers', async t => {
  const sidegate = await startGateway(t, { workers: 2, workerTimeout: '5s' })
  const workers = sidegate.workerPids()

  // Like a suspended machine: no process of the gateway runs for longer than workerTimeout.
  for (const pid of [...workers, sidegate.pid]) stop(t, pid)
  await sleep(6000)
  for (const pid of [sidegate.pid, ...workers]) process.kill(pid, 'SIGCONT')
  // The primary finds a worker that is stopped now at its fourth check.
  const [stopped = 0] = workers
  stop(t, stopped)
  await eventually(() => logEntries(sidegate, 'worker_unresponsive').length > 0)

  t.same(
    logEntries(sidegate, 'worker_unresponsive').map(({ worker_pid }) => worker_pid),
    [stopped],
  )
  t.same(
    logEntries(sidegate, 'worker_died').filter(({ worker_pid }) => worker_pid !== stopped),
    [],
    'no other worker was killed',
  )
})
