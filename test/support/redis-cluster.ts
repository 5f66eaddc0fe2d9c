import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'
import { type RedisWishes, type RunningRedis, startRedis } from './redis.ts'

const slotCount = 16_384

/** A Redis Cluster of real servers, each with a third of the slots. */
export interface RunningCluster {
  /** `redis+cluster://…`, by its first node alone. */
  readonly url: string
  readonly nodes: readonly [RunningRedis, RunningRedis, RunningRedis]
  /**
   * Resolves when every node regards every other as alive: for two seconds after its return it is still marked as
   * failed.
   */
  healed(): Promise<void>
  /** Adds a replica of a node, and resolves when it follows. */
  addReplica(of: RunningRedis): Promise<RunningRedis>
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export const startCluster = async (t: Teardown, extraArguments: readonly string[] = []): Promise<RunningCluster> => {
  const start = async (): Promise<RunningRedis> => startNode(t, extraArguments)
  const nodes = [await start(), await start(), await start()] as const
  for (const [place, { client }] of nodes.entries()) {
    await client.cluster('SET-CONFIG-EPOCH', place + 1)
    await client.cluster('ADDSLOTSRANGE', firstSlotOf(place), firstSlotOf(place + 1) - 1)
  }
  for (const node of nodes.slice(1)) await introduce(node, nodes[0])
  await eventually(() => Promise.all(nodes.map(node => knows(node, nodes.length))).then(all => all.every(Boolean)))
  return {
    url: `redis+cluster://127.0.0.1:${nodes[0].port}`,
    nodes,
    healed: () => eventually(async () => (await Promise.all(nodes.map(seesAllWell))).every(Boolean)),
    addReplica: async of => {
      const replica = await start()
      await introduce(replica, of)
      const id = await of.client.cluster('MYID')
      await eventually(async () => (await replica.client.call('CLUSTER', 'REPLICATE', id)) === 'OK')
      await eventually(async () => (await replica.client.info('replication')).includes('master_link_status:up'))
      const others = nodes.filter(node => node !== of)
      await eventually(async () => {
        const views = await Promise.all(others.map(({ client }) => client.cluster('SLOTS')))
        return views.every(view => JSON.stringify(view).includes(String(replica.port)))
      })
      return replica
    },
  }
}

const firstSlotOf = (place: number): number => Math.ceil((place * slotCount) / 3)

/** Which of three nodes has a slot at the start. */
export const placeOfSlot = (slot: number): number => Math.floor((slot * 3) / slotCount)

/** One node that is a whole Cluster. */
export const startLonelyNode = async (
  t: Teardown,
  extraArguments: readonly string[] = [],
  wishes: RedisWishes = {},
): Promise<RunningRedis> => {
  const node = await startNode(t, extraArguments, wishes)
  await node.client.cluster('ADDSLOTSRANGE', 0, slotCount - 1)
  await eventually(() => knows(node, 1))
  return node
}

const startNode = async (
  t: Teardown,
  extraArguments: readonly string[],
  wishes: RedisWishes = {},
): Promise<RunningRedis> => {
  const cluster = [
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
    '--cluster-node-timeout',
    '1000',
    '--cluster-require-full-coverage',
    'no',
  ]
  const replication = ['--repl-diskless-sync-delay', '0']
  // Its bus is 10000 above its port otherwise, which may be no port.
  const bus = ['--cluster-port', String(await findFreePort())]
  return startRedis(t, [...cluster, ...bus, ...replication, ...extraArguments], wishes)
}

const introduce = async (node: RunningRedis, other: RunningRedis): Promise<void> => {
  const info = String(await other.client.cluster('NODES'))
  const busPort = /@(\d+)[^\n]*\bmyself\b/.exec(info)?.[1] ?? ''
  await node.client.call('CLUSTER', 'MEET', '127.0.0.1', other.port, busPort)
}

const seesAllWell = async ({ client }: RunningRedis): Promise<boolean> => {
  const [info, nodes] = [await client.cluster('INFO'), String(await client.cluster('NODES'))]
  return info.includes('cluster_state:ok') && !/\bfail\b/.test(nodes)
}

const knows = async ({ client }: RunningRedis, nodes: number): Promise<boolean> => {
  const info = await client.cluster('INFO')
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`)
}
