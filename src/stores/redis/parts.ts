import { Cluster, Command } from 'ioredis'
import { answered, primariesOf, type RedisConnection } from './connection.ts'

/**
 * Redis fails in parts: a Cluster each primary by itself, any other as one.
 */

/** Names all of Redis, where it is not a Cluster. */
export const wholeRedis = 'Redis'

/** Names the slots of a Cluster that no node has. */
const nobody = 'no node of the cluster'

/** The part that has a key: the address of its primary. @param key without the prefix, as commands are given it */
export const partOf = (connection: RedisConnection, key: string): string => {
  if (!(connection instanceof Cluster)) return wholeRedis
  // ioredis computes slots for its commands alone; this one is never sent.
  const slot = new Command('exists', [`${connection.options.keyPrefix ?? ''}${key}`]).getSlot()
  return connection.slots[slot]?.[0] ?? nobody
}

/** Asks every part whether it is there. @throws StoreUnavailableError where one does not answer, or lacks a slot */
export const pingParts = async (connection: RedisConnection): Promise<void> => {
  await answered(Promise.all(primariesOf(connection).map(node => node.ping())))
  if (connection instanceof Cluster) await answered(checkSlots(connection))
}

const checkSlots = async (cluster: Cluster): Promise<void> => {
  const info = String(await cluster.cluster('INFO'))
  if (!info.includes('cluster_state:ok')) throw new Error('the Redis Cluster is down')
}
