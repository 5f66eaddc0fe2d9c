import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findFreePort } from '../../support/free-port.ts'
import { parseExposition, sumOf } from '../../telemetry/support/exposition.ts'
import { answers, cores } from '../program.ts'
import { paths } from './connections.ts'
import { type Fleet, type FleetStart, killChildOf } from './fleet.ts'
import { clientSecret, plan } from './plan.ts'

const sidegate = join(import.meta.dirname, '../../../src/sidegate.cjs')

interface Pod {
  readonly pid: number
  readonly url: string
  readonly admin: string
}

/** Starts the pods of a fleet of Sidegate, as `sidegate serve` does. Resolves when all of them serve. */
export const startSidegates = async (start: FleetStart): Promise<Fleet> => {
  const pods = await Promise.all(Array.from({ length: start.topology.pods }, (_, pod) => startPod(start, pod)))
  return {
    urls: pods.map(({ url }) => url),
    killWorker: () => killChildOf(pods[0]?.pid ?? 0),
    countLocal: async () => {
      const counts = await Promise.all(pods.map(countLocal))
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

const countLocal = async ({ admin }: Pod): Promise<number> => {
  // Seconds pass until the next question: a connection kept so long may close just as it is asked.
  const response = await fetch(`${admin}/metrics`, { headers: { connection: 'close' } })
  return sumOf(parseExposition(await response.text()), 'sidegate_plan_decisions_total', { decision: 'local' })
}

const startPod = async (start: FleetStart, pod: number): Promise<Pod> => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const file = join(start.dir, `sidegate-${port}.yaml`)
  writeFileSync(file, stringify(toConfig(start, port, adminPort)))
  const admin = `http://127.0.0.1:${adminPort}`
  const pid = await start.programs.start({
    name: 'sidegate',
    core: cores.all,
    command: [process.execPath, sidegate, 'serve', '--config', file],
    env: { LOG_LEVEL: 'warn', ...start.envOf(pod) },
    readyWhen: () => answers(`${admin}/readyz`),
  })
  return { pid, url: `http://127.0.0.1:${port}`, admin }
}

const toConfig = ({ topology, redises, upstream, clients }: FleetStart, port: number, adminPort: number): object => ({
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers: topology.workers,
  store: redises.url,
  plans: { limits: { rate: `${plan.limit}/${plan.windowMs / 1000}second`, algorithm: 'strict' } },
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
  shutdown: { delay: '0s', timeout: '1s' },
})
