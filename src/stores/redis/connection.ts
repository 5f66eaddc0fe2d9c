import { Cluster, Redis } from 'ioredis'
import { StoreUnavailableError } from '../ports.ts'
import { parseRedisAddress, type RedisAddress, type RedisUrl } from '../store-url.ts'

/** A connection to one Redis, whatever stands behind it. It reconnects for ever; meanwhile commands fail at once. */
export type RedisConnection = Redis | Cluster

/** Longest pause between two attempts to reconnect, in milliseconds: sharing is back within a second of Redis. */
const reconnectPauseMs = 250

/** Longest wait for a connection to be made, in milliseconds. */
const connectTimeoutMs = 1000

export interface ConnectionOptions {
  /** Longest wait for the answer to a command, in milliseconds; after it the command fails, though it may still run. */
  readonly commandTimeoutMs: number
  /** A connection that owes an answer for so long, in milliseconds, is taken for dead and made anew. */
  readonly silenceMs: number
}

/** Connects in the background, and says nothing when it cannot: each command says so for itself. */
export const connectRedis = (url: RedisUrl, options: ConnectionOptions): RedisConnection => {
  const address = parseRedisAddress(url)
  if ('problem' in address) throw new TypeError(address.problem)
  const connection = createConnection(url.mode, address, commonOptions(address, options))
  connection.on('error', () => undefined)
  return connection
}

const retry = (attempt: number): number => Math.min(attempt * 50, reconnectPauseMs)

// Nothing is kept for later or sent twice: the caller has been answered by then, and a limit would count admissions
// that nobody got.
const commonOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  ...(address.username !== undefined && { username: address.username }),
  ...(address.password !== undefined && { password: address.password }),
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: connectTimeoutMs,
  commandTimeout: options.commandTimeoutMs,
  socketTimeout: options.silenceMs,
  // A primary that became a replica refuses writes on the old connection.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
})

const createConnection = (
  mode: RedisUrl['mode'],
  address: RedisAddress,
  common: ReturnType<typeof commonOptions>,
): RedisConnection => {
  switch (mode) {
    case 'single':
      return new Redis({
        ...common,
        ...address.hosts[0],
        db: address.database,
        ...(address.tls && { tls: {} }),
        enableOfflineQueue: false,
        retryStrategy: retry,
      })
    case 'sentinel':
      return new Redis({
        ...common,
        sentinels: [...address.hosts],
        name: address.sentinelName,
        enableOfflineQueue: false,
        retryStrategy: retry,
        sentinelRetryStrategy: retry,
        sentinelCommandTimeout: connectTimeoutMs,
      })
    case 'cluster':
      return new Cluster([...address.hosts], {
        redisOptions: common,
        enableOfflineQueue: false,
        clusterRetryStrategy: retry,
        clusterNodeRetryStrategy: retry,
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshTimeout: connectTimeoutMs,
        slotsRefreshInterval: 1000,
      })
  }
}

/** Resolves when the connection is up, or after `patienceMs` without it. */
export const waitUntilReady = async (connection: RedisConnection, patienceMs: number): Promise<void> => {
  if (connection.status === 'ready') return
  await new Promise<void>(resolve => {
    const done = (): void => {
      clearTimeout(timer)
      connection.off('ready', done)
      resolve()
    }
    const timer = setTimeout(done, patienceMs)
    connection.on('ready', done)
  })
}

/** ioredis gives no code for a call without a connection, only a text about its own options. */
const isOffline = (error: unknown): boolean => error instanceof Error && error.message.includes('enableOfflineQueue')

/** Passes an answer on; any failure becomes the one error that a store may throw. */
export const answered = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  try {
    return await answer
  } catch (error) {
    throw new StoreUnavailableError('redis', isOffline(error) ? new Error('not connected to Redis') : error)
  }
}

/** Runs atomically in Redis: its keys (all of one slot), then its arguments. Throws StoreUnavailableError. */
export type Script = (...keysAndArguments: readonly (string | number)[]) => Promise<unknown>

export const defineScript = (connection: RedisConnection, name: string, numberOfKeys: number, lua: string): Script => {
  connection.defineCommand(name, { numberOfKeys, lua })
  // ioredis adds the command as a method of this name, which its types cannot know.
  const methods = connection as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>
  return (...keysAndArguments) => answered(Promise.resolve(methods[name]?.(...keysAndArguments)))
}
