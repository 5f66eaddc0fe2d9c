import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningRedis } from '../../support/redis.ts'
import { startCluster } from '../../support/redis-cluster.ts'
import { awayMs, type Form, findClientsOf, findKeyOf, untilWritable } from './form.ts'

/** Which of three nodes goes. */
const lostPlace = 2

/** Three primaries that take a second of silence for an end; one of them goes. */
const nodeAway = (
  name: string,
  title: string,
  outage: {
    readonly coverage: 'yes' | 'no'
    goAway(lost: RunningRedis): unknown
    comeBack(lost: RunningRedis): unknown
  },
): Form => ({
  name,
  title: `Cluster: ${title}`,
  start: async t => {
    const { url, nodes } = await startCluster(t, ['--cluster-require-full-coverage', outage.coverage])
    const lost = nodes[lostPlace]
    return {
      store: url,
      clientIds: findClientsOf(lostPlace),
      goAway: async () => void (await outage.goAway(lost)),
      comeBack: async () => {
        await sleep(awayMs)
        await outage.comeBack(lost)
        await untilWritable(lost, findKeyOf(lostPlace))
      },
    }
  },
})

/** The same with a replica of the one that goes. */
const takeover = (name: string, title: string, goAway: (lost: RunningRedis) => unknown): Form => ({
  name,
  title: `Cluster: ${title}, and its replica takes over`,
  start: async t => {
    const cluster = await startCluster(t)
    const lost = cluster.nodes[lostPlace]
    const replica = await cluster.addReplica(lost)
    return {
      store: cluster.url,
      clientIds: findClientsOf(lostPlace),
      goAway: async () => void (await goAway(lost)),
      comeBack: () => untilWritable(replica, findKeyOf(lostPlace)),
    }
  },
})

const killed = { goAway: (lost: RunningRedis) => lost.kill(), comeBack: (lost: RunningRedis) => lost.start() }
const stopped = { goAway: (lost: RunningRedis) => lost.pause(), comeBack: (lost: RunningRedis) => lost.resume() }

export const clusterForms: readonly Form[] = [
  nodeAway('node-killed', 'a primary is killed, and started', { ...killed, coverage: 'no' }),
  nodeAway('cluster-down', 'the same, with full coverage required', { ...killed, coverage: 'yes' }),
  nodeAway('node-stopped', 'a primary is stopped, and continued', { ...stopped, coverage: 'no' }),
  takeover('killed-replaced', 'a primary is killed', killed.goAway),
  takeover('stopped-replaced', 'a primary is stopped', stopped.goAway),
]
