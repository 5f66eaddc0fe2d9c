import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { eventually } from '../../support/eventually.ts'
import { findFreePort } from '../../support/free-port.ts'
import { type Exposition, parseExposition, sumOf } from '../../telemetry/support/exposition.ts'
import { answers, cores } from '../program.ts'
import { paths } from './connections.ts'
import { type Fleet, type FleetStart, killChildOf, type Pod, replacePods } from './fleet.ts'
import { clientSecret, plan } from './plan.ts'

const sidegate = join(import.meta.dirname, '../../../src/sidegate.cjs')

interface SidegatePod extends Pod {
  readonly admin: string
  /** Gives all clients another limit. */
  rewrite(limit: number): void
}

/** Starts the pods of a fleet of Sidegate, as `sidegate serve` does. Resolves when all of them serve. */
export const startSidegates = async (start: FleetStart): Promise<Fleet> => {
  const { workers } = start.topology
  const pods = await Promise.all(Array.from({ length: start.topology.pods }, (_, pod) => startPod(start, pod, workers)))
  let localOfGone = 0
  return {
    urls: () => pods.map(({ url }) => url),
    killWorker: () => killChildOf(pods[0]?.pid ?? 0),
    countLocal: async () => {
      const counts = await Promise.all(pods.map(countLocal))
      return counts.reduce((sum, count) => sum + count, localOfGone)
    },
    changeLimit: async limit => void (await Promise.all(pods.map(pod => changeLimit(pod, limit)))),
    grow: () =>
      replacePods(
        pods,
        pod => startPod(start, pod, 2 * workers),
        async old => {
          localOfGone += await countLocal(old)
        },
      ),
  }
}

const countLocal = async (pod: SidegatePod): Promise<number> =>
  sumOf(await scrape(pod), 'sidegate_plan_decisions_total', { decision: 'local' })

const scrape = async ({ admin }: SidegatePod): Promise<Exposition> => {
  // Seconds pass until the next question: a connection kept so long may close just as it is asked.
  const response = await fetch(`${admin}/metrics`, { headers: { connection: 'close' } })
  return parseExposition(await response.text())
}

const changeLimit = async (pod: SidegatePod, limit: number): Promise<void> => {
  const changedAt = await reloadedAt(pod)
  pod.rewrite(limit)
  process.kill(pod.pid, 'SIGHUP')
  await eventually(async () => (await reloadedAt(pod)) !== changedAt)
  // The primary has told its workers so.
  await sleep(toldMs)
}

/** Many times what a message from the primary takes to a worker, in milliseconds. */
const toldMs = 50

const reloadedAt = async (pod: SidegatePod): Promise<number> =>
  sumOf(await scrape(pod), 'sidegate_config_last_reload_success_timestamp_seconds')

const startPod = async (start: FleetStart, pod: number, workers: number): Promise<SidegatePod> => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const file = join(start.dir, `sidegate-${port}.yaml`)
  const rewrite = (limit: number): void => {
    writeFileSync(`${file}.next`, stringify(toConfig(start, { port, adminPort, workers, limit })))
    renameSync(`${file}.next`, file)
  }
  rewrite(plan.limit)
  const admin = `http://127.0.0.1:${adminPort}`
  const pid = await start.programs.start({
    name: 'sidegate',
    core: cores.all,
    command: [process.execPath, sidegate, 'serve', '--config', file],
    env: { LOG_LEVEL: 'warn', ...start.envOf(pod) },
    readyWhen: () => answers(`${admin}/readyz`),
  })
  return { pid, url: `http://127.0.0.1:${port}`, admin, rewrite }
}

interface PodValues {
  readonly port: number
  readonly adminPort: number
  readonly workers: number
  readonly limit: number
}

const toConfig = (
  { redises, upstream, clients }: FleetStart,
  { port, adminPort, workers, limit }: PodValues,
): object => ({
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers,
  store: redises.url,
  plans: { limits: { rate: `${limit}/${plan.windowMs / 1000}second`, algorithm: 'strict' } },
  groupings: [
    {
      name: 'Limits',
      upstream: 'service',
      operations: [
        { method: 'GET', path: paths.planned, credentials: 'query' },
        { method: 'GET', path: paths.open, credentials: 'none', plan: 'none' },
      ],
    },
  ],
  upstreams: { service: { targets: [upstream] } },
  clients: clients.map(client_id => ({
    client_id,
    client_secret: clientSecret,
    grant_types: ['client_credentials'],
  })),
  // Pods get SIGTERM while requests are still sent to them.
  shutdown: { delay: '1s', timeout: '1s' },
})
