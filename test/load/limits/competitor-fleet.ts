import { join } from 'node:path'
import { findFreePort } from '../../support/free-port.ts'
import { answers, cores } from '../program.ts'
import { paths } from './connections.ts'
import { type Fleet, type FleetStart, killChildOf } from './fleet.ts'

interface Pod {
  readonly pid: number
  readonly url: string
}

/** Starts as many processes of the competitor, over the same Redis. Resolves when all of them serve. */
export const startCompetitors = async (start: FleetStart): Promise<Fleet> => {
  const pods = await Promise.all(Array.from({ length: start.topology.pods }, (_, pod) => startPod(start, pod)))
  return {
    urls: pods.map(({ url }) => url),
    killWorker: () => killChildOf(pods[0]?.pid ?? 0),
    // It has no share of its own.
    countLocal: async () => 0,
  }
}

const startPod = async ({ programs, topology, redises, upstream, envOf }: FleetStart, pod: number): Promise<Pod> => {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const words = [`${port}`, `${topology.workers}`, upstream, JSON.stringify(redises.options)]
  const pid = await programs.start({
    name: 'rate-limiter-flexible',
    core: cores.all,
    command: [process.execPath, join(import.meta.dirname, 'competitor.ts'), ...words],
    env: envOf(pod),
    readyWhen: () => answers(url + paths.open),
  })
  return { pid, url }
}
