import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, type Command, Redis } from 'ioredis'
import { ownMember } from '../../own-member.ts'
import { StoreUnavailableError } from '../ports/store-unavailable.ts'
import { parseRedisAddress, type RedisAddress, type RedisUrl } from '../store-url.ts'
import { CommandTimeouts } from './command-timeouts.ts'
import { followConnectionErrors, unavailableReason } from './connection-errors.ts'
import { type ConnectionOptions, clusterOptions, sentinelOptions, singleOptions } from './options.ts'

/** A connection to one Redis, Sentinel group or Cluster. It reconnects for ever; meanwhile commands fail at once. */
export type RedisConnection = Redis | Cluster

/** Connects in the background and reports no failure: each command fails with the reason. */
export const connectRedis = (url: RedisUrl, options: ConnectionOptions): RedisConnection => {
  const address = parseRedisAddress(url)
  if ('problem' in address) throw new TypeError(address.problem)
  const connection = createConnection(url.mode, address, options)
  followConnectionErrors(connection, address)
  boundWaits(connection, options.commandTimeoutMs)
  return connection
}

const createConnection = (
  mode: RedisUrl['mode'],
  address: RedisAddress,
  options: ConnectionOptions,
): RedisConnection => {
  switch (mode) {
    case 'single':
      return new Redis(singleOptions(address, options))
    case 'sentinel':
      return new Redis(sentinelOptions(address, options))
    case 'cluster':
      return askForSlots(
        followFailovers(connectEagerly(new Cluster([...address.hosts], clusterOptions(address, options)))),
      )
  }
}

/**
 * Bounds the time for each command's reply, redirections included. A command that cannot be sent fails with the reason.
 */
const boundWaits = (connection: RedisConnection, timeoutMs: number): void => {
  const send: Cluster['sendCommand'] = connection.sendCommand.bind(connection)
  const deadlines = new CommandTimeouts(timeoutMs)
  const sendBounded: Cluster['sendCommand'] = (command, ...rest) => {
    // Earlier commands are sent by ioredis itself.
    if (connection.status === 'ready') deadlines.add(command)
    else explainFailure(command, connection)
    return send(command, ...rest)
  }
  connection.sendCommand = sendBounded
}

const explainFailure = (command: Command, connection: RedisConnection): void => {
  const reject = command.reject
  command.reject = error =>
    reject(isOffline(error) ? new Error(unavailableReason(connection), { cause: error }) : error)
}

/**
 * ioredis connects to a node at the first command for it, which would then have to wait. This connects before, but only
 * once the Cluster is ready, because its own first query goes to nodes that are connected or not started.
 */
const connectEagerly = (cluster: Cluster): Cluster => {
  const connect = (node: Redis): void => {
    if (cluster.status === 'ready') node.connect().catch(() => undefined)
  }
  cluster.on('ready', () => {
    for (const node of cluster.nodes()) connect(node)
  })
  return cluster.on('+node', connect)
}

/**
 * How often a Cluster is asked for its slots, in milliseconds. This bounds how late a failover is noticed without a
 * MOVED.
 */
const slotsEveryMs = 1000

const askForSlots = (cluster: Cluster): Cluster => {
  let timer: NodeJS.Timeout | undefined
  const ask = (): void => {
    if (cluster.status === 'ready') {
      cluster.refreshSlotsCache()
    } else {
      clearInterval(timer)
      timer = undefined
    }
  }
  return cluster.on('ready', () => {
    timer ??= setInterval(ask, slotsEveryMs).unref()
  })
}

/** How often a Cluster that misses a primary is asked for its slots, in milliseconds. */
const missingEveryMs = 400

/**
 * Finds a replica that has taken over. Without this only the primary that is gone could redirect commands for its
 * slots.
 */
const followFailovers = (cluster: Cluster): Cluster => {
  let isFollowing = false
  const follow = (): void => {
    if (isFollowing) return
    isFollowing = true
    setTimeout(look, missingEveryMs).unref()
  }
  const look = (): void => {
    isFollowing = false
    if (cluster.status !== 'ready' || isWhole(cluster)) return
    cluster.refreshSlotsCache()
    follow()
  }
  return cluster.on('+node', (node: Redis) => node.on('close', follow))
}

/** Resolves when every shard of Redis is connected, or after `patienceMs`. */
export const waitUntilReady = async (connection: RedisConnection, patienceMs: number): Promise<void> => {
  const deadlineMs = performance.now() + patienceMs
  while (!isWhole(connection) && performance.now() < deadlineMs) await sleep(readyEveryMs)
}

/** How often a start checks whether Redis is connected, in milliseconds. */
const readyEveryMs = 5

const isWhole = (connection: RedisConnection): boolean =>
  connection.status === 'ready' && primariesOf(connection).every(node => node.status === 'ready')

/** The Redis servers that accept writes, as far as the connection knows. */
const primariesOf = (connection: RedisConnection): readonly Redis[] =>
  connection instanceof Cluster ? connection.nodes('master') : [connection]

/** For a command without a connection ioredis has no error code, only a text about its own options. */
const isOffline = (error: unknown): boolean =>
  error instanceof Error && /enableOfflineQueue|^Connection is closed\.$|max retries per request/.test(error.message)

/** Passes an answer on. Any failure becomes the one error that a store may throw. */
export const answered = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  try {
    return await answer
  } catch (error) {
    throw toUnavailable(error)
  }
}

/** Converts any error of ioredis to the one error that a store may throw. */
export const toUnavailable = (error: unknown): StoreUnavailableError =>
  new StoreUnavailableError('redis', isOffline(error) ? new Error('not connected to Redis') : error)

/** Runs atomically in Redis. Takes its keys (all of one slot), then its arguments. Throws StoreUnavailableError. */
export type Script = (...keysAndArguments: readonly (string | number)[]) => Promise<unknown>

export const defineScript = (connection: RedisConnection, name: string, numberOfKeys: number, lua: string): Script => {
  connection.defineCommand(name, { numberOfKeys, lua })
  // ioredis adds the command as a method of this name, which its types do not show.
  const methods = connection as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>
  const call = ownMember(methods, name)?.bind(connection)
  return (...keysAndArguments) => answered(Promise.resolve(call?.(...keysAndArguments)))
}
