import type { RedisAddress } from '../store-url.ts'
import { followTlsFiles } from './tls.ts'

/**
 * Longest pause between two attempts to reconnect, in milliseconds, so that Redis is used again within a second after
 * it is back.
 */
const reconnectPauseMs = 250

/**
 * Longest wait for a connection to be made, TLS included, in milliseconds. If a network drops packets, the kernel sends
 * them again after a second at the earliest. With a new attempt before that, Redis is used again sooner.
 */
const connectTimeoutMs = 500

/**
 * Longest wait for one Sentinel, or for one node that is asked for the slots, before the next is asked, in
 * milliseconds.
 */
const guideTimeoutMs = 500

export interface ConnectionOptions {
  /**
   * Longest wait for the reply to a command, in milliseconds. Then the command fails, though it may still be executed.
   */
  readonly commandTimeoutMs: number
  /** A connection on which a reply is due for so long, in milliseconds, is considered dead and made again. */
  readonly silenceMs: number
}

/** By default ioredis doubles its pauses up to five seconds, and so late it would notice that Redis is back. */
const retry = (attempt: number): number => Math.min(attempt * 50, reconnectPauseMs)

/** The options of each connection to a Redis, for all modes. */
const commonOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  ...address.login,
  ...(address.tls && { tls: followTlsFiles(address.tls) }),
  keyPrefix: address.prefix,
  // Nothing is sent twice: by then the request has been answered, and a limit would count admissions that no client
  // got.
  autoResendUnfulfilledCommands: false,
  // Commands in flight fail when a connection ends, not after 20 attempts to reconnect.
  maxRetriesPerRequest: 0,
  connectTimeout: connectTimeoutMs,
  // If the other end has vanished, nothing else closes the connection. This also bounds the commands that ioredis sends
  // itself, for which `commandTimeout` would be too short: connecting takes several round trips.
  socketTimeout: options.silenceMs,
  // A firewall drops connections without traffic, and an idle one would notice that only when a request waits for it.
  keepAlive: 10_000,
  // While Redis loads its data, the pause is so long, and not the ten seconds that Redis may estimate.
  maxLoadingRetryTime: reconnectPauseMs,
  // A primary that became a replica refuses writes on the old connection (older versions wrap a script's error in ERR).
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  // Each connection would send two commands that a user with few permissions may not run, and Redis would log that.
  disableClientInfo: true,
})

export const singleOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  ...commonOptions(address, options),
  ...address.hosts[0],
  db: address.database,
  // No command is queued: without a connection it fails at once.
  enableOfflineQueue: false,
  retryStrategy: retry,
})

export const sentinelOptions = (address: RedisAddress, options: ConnectionOptions) => {
  const common = commonOptions(address, options)
  const { username, password } = address.sentinelLogin
  return {
    ...common,
    sentinels: [...address.hosts],
    name: address.sentinelName,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    ...(common.tls && { sentinelTLS: common.tls, enableTLSForSentinelMode: true }),
    enableOfflineQueue: false,
    retryStrategy: retry,
    sentinelRetryStrategy: retry,
    sentinelCommandTimeout: guideTimeoutMs,
    // Sentinels close the connections to a primary that they replace. A primary that they cannot reach is silent, or
    // soon refuses writes. So it is not necessary to subscribe to the Sentinels with a connection from every worker to
    // each of them.
    failoverDetector: false,
  }
}

export const clusterOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  redisOptions: commonOptions(address, options),
  enableOfflineQueue: false,
  clusterRetryStrategy: retry,
  // Without it a node that ends is not connected to again before the slots move.
  clusterNodeRetryStrategy: retry,
  // Both would wait and send the command again; by then the request has been answered.
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshTimeout: guideTimeoutMs,
  // The timer of ioredis survives a connection that is closed during its query; connection.ts has one that does not.
  slotsRefreshInterval: 0,
  // ioredis resolves names before it connects, but certificates contain names and no addresses.
  ...(address.tls && { dnsLookup: keepName }),
})

const keepName = (host: string, done: (error: null, host: string) => void): void => done(null, host)
