import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../support/free-port.ts'
import { answers, cores } from '../program.ts'
import { paths } from './connections.ts'
import { type Fleet, type FleetStart, killChildOf, type Pod, replacePods } from './fleet.ts'
import { plan } from './plan.ts'

/** Many times what its workers need to hear of another limit, in milliseconds. */
const heardMs = 200

/** Starts as many processes of the competitor, over the same Redis. Resolves when all of them serve. */
export const startCompetitors = async (start: FleetStart): Promise<Fleet> => {
  const { workers } = start.topology
  const limitFile = join(start.dir, 'limit')
  writeFileSync(limitFile, `${plan.limit}`)
  const startPod = (pod: number, workers: number): Promise<Pod> => startCompetitor(start, pod, workers, limitFile)
  const pods = await Promise.all(Array.from({ length: start.topology.pods }, (_, pod) => startPod(pod, workers)))
  return {
    urls: () => pods.map(({ url }) => url),
    killWorker: () => killChildOf(pods[0]?.pid ?? 0),
    // It has no share of its own.
    countLocal: async () => 0,
    changeLimit: async limit => {
      writeFileSync(limitFile, `${limit}`)
      for (const { pid } of pods) process.kill(pid, 'SIGHUP')
      await sleep(heardMs)
    },
    grow: () =>
      replacePods(
        pods,
        pod => startPod(pod, 2 * workers),
        async () => undefined,
      ),
  }
}

const startCompetitor = async (
  { programs, redises, upstream, envOf }: FleetStart,
  pod: number,
  workers: number,
  limitFile: string,
): Promise<Pod> => {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const words = [`${port}`, `${workers}`, upstream, JSON.stringify(redises.options), limitFile]
  const pid = await programs.start({
    name: 'rate-limiter-flexible',
    core: cores.all,
    command: [process.execPath, join(import.meta.dirname, 'competitor.ts'), ...words],
    env: envOf(pod),
    readyWhen: () => answers(url + paths.open),
  })
  return { pid, url }
}
