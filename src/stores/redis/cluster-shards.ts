import { Cluster, Command, type Redis } from 'ioredis'
import { StoreUnavailableError } from '../ports/store-unavailable.ts'
import { answered, type RedisConnection } from './connection.ts'
import { unavailableReason } from './connection-errors.ts'

/** Redis fails in shards: in a Cluster each primary separately, any other Redis as a whole. */

/** Names all of Redis if it is not a Cluster. */
export const wholeRedis = 'Redis'

/** Names the slots of a Cluster that no node serves. */
const noNode = 'no node of the cluster'

/**
 * The shard that has a key: the address of its primary.
 * @param key without the prefix, as in commands
 */
export const shardOf = (connection: RedisConnection, key: string): string => {
  if (!(connection instanceof Cluster)) return wholeRedis
  // ioredis computes slots only for its commands; this one is never sent.
  const slot = new Command('exists', [`${connection.options.keyPrefix ?? ''}${key}`]).getSlot()
  return connection.slots[slot]?.[0] ?? noNode
}

/**
 * Checks that every shard serves requests.
 * @throws StoreUnavailableError if one does not
 */
export const pingShards = async (connection: RedisConnection): Promise<void> => {
  if (!(connection instanceof Cluster)) await answered(connection.ping())
  // Before it is connected there are no shards that could fail.
  else if (connection.status !== 'ready')
    throw new StoreUnavailableError('redis', new Error(unavailableReason(connection)))
  else await answered(Promise.all(connection.nodes('master').map(checkNode)))
}

/** A node that has lost contact with the others, or has just rejoined them, answers PING and refuses other commands. */
const checkNode = async (node: Redis): Promise<void> => {
  const address = `${node.options.host}:${node.options.port}`
  if (node.status !== 'ready') throw new Error(`not connected to ${address}`)
  const info = String(await node.cluster('INFO'))
  if (!info.includes('cluster_state:ok')) throw new Error(`${address} reports that the Redis Cluster is down`)
}
