import type { RedisAddress } from '../store-url.ts'
import { followTlsFiles } from './tls.ts'

/** Longest pause between two attempts to reconnect, in milliseconds: sharing is back within a second of Redis. */
const reconnectPauseMs = 250

/**
 * Longest wait for a connection to be made, TLS included, in milliseconds. A network that drops what is sent is tried again
 * by the kernel after a second at the earliest: with a new attempt before that, sharing is back sooner.
 */
const connectTimeoutMs = 500

/** Longest wait for one Sentinel, or one node that is asked for the slots, before the next is asked, in milliseconds. */
const guideTimeoutMs = 500

export interface ConnectionOptions {
  /** Longest wait for the answer to a command, in milliseconds; after it the command fails, though it may still run. */
  readonly commandTimeoutMs: number
  /** A connection that owes an answer for so long, in milliseconds, is taken for dead and made anew. */
  readonly silenceMs: number
}

/** ioredis doubles its pauses up to five seconds by default: so late would a Redis be used again that is back. */
const retry = (attempt: number): number => Math.min(attempt * 50, reconnectPauseMs)

/** What holds for each connection to a Redis, whatever stands around it. */
const commonOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  ...address.login,
  ...(address.tls && { tls: followTlsFiles(address.tls) }),
  keyPrefix: address.prefix,
  // Nothing is sent twice: the caller has been answered by then, and a limit would count admissions that nobody got.
  autoResendUnfulfilledCommands: false,
  // What was under way when a connection ends fails with it, not after 20 attempts to reconnect.
  maxRetriesPerRequest: 0,
  connectTimeout: connectTimeoutMs,
  // A connection whose other end has vanished is never closed by anybody else. This bounds what ioredis asks for itself
  // as well, which `commandTimeout` would end too soon: connecting takes several round trips.
  socketTimeout: options.silenceMs,
  // A firewall forgets connections without traffic, and an idle one would find out with a caller waiting.
  keepAlive: 10_000,
  // A Redis that loads its data is asked again so soon, not after the ten seconds that it may guess it needs.
  maxLoadingRetryTime: reconnectPauseMs,
  // A primary that became a replica refuses writes on the old connection (older ones wrap what a script meets in ERR).
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  // Two commands for each connection that a user with few rights would be refused, and its log would show it.
  disableClientInfo: true,
})

export const singleOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  ...commonOptions(address, options),
  ...address.hosts[0],
  db: address.database,
  // Nothing is kept for later: who asks while there is no connection is told so at once.
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
    // Sentinels end the connections to a primary that they replace; one that they cannot reach is silent, or refuses
    // writes soon. So nobody need listen to them meanwhile, through a connection to each from every worker.
    failoverDetector: false,
  }
}

export const clusterOptions = (address: RedisAddress, options: ConnectionOptions) => ({
  redisOptions: commonOptions(address, options),
  enableOfflineQueue: false,
  clusterRetryStrategy: retry,
  // Without it a node that ends is not connected to again before the slots move.
  clusterNodeRetryStrategy: retry,
  // Both would wait and send again: the caller has been answered by then.
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  slotsRefreshTimeout: guideTimeoutMs,
  // Its clock outlives a connection that is closed while it asks; connection.ts has one that does not.
  slotsRefreshInterval: 0,
  // ioredis turns names into addresses before it connects, and certificates name no addresses.
  ...(address.tls && { dnsLookup: keepName }),
})

const keepName = (host: string, done: (error: null, host: string) => void): void => done(null, host)
