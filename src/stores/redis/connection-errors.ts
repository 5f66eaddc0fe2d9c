import type { Cluster, Redis } from 'ioredis'
import type { RedisAddress } from '../store-url.ts'

/**
 * Why each connection cannot be used now. ioredis passes the cause only to its listeners; a command that fails
 * meanwhile gets only the advice to configure a queue.
 */
const faults = new WeakMap<Redis | Cluster, string>()

/** Why a connection is unavailable, in one line for the operator; it contains no password. */
export const unavailableReason = (connection: Redis | Cluster): string =>
  faults.get(connection) ?? 'not connected to Redis'

/** Records the errors of a connection. */
export const followConnectionErrors = (connection: Redis | Cluster, { hosts, tls }: RedisAddress): void => {
  const everywhere = hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
  const set = (at: string, why: string): void =>
    void faults.set(
      connection,
      `not connected to Redis at ${at}: ${isProven ? why : withGuess(why, tls !== undefined)}`,
    )
  let hasSpoken = false
  let isProven = false
  connection.on('connect', () => {
    hasSpoken = false
  })
  connection.on('ready', () => {
    isProven = true
    faults.delete(connection)
  })
  connection.on('node error', (error: Error, address: string) => {
    hasSpoken = true
    set(address, toReason(error))
  })
  connection.on('error', (error: Error) => {
    // Each node of a Cluster has already reported its own error.
    if (hasSpoken && error.name === 'ClusterAllFailedError') return
    hasSpoken = true
    set(everywhere, toReason(error))
  })
  connection.on('close', () => {
    if (!hasSpoken) set(everywhere, 'it ended the connection')
  })
}

/**
 * If a name has several addresses, the first error is reported. The errors of a Sentinel's attempts are many, and a
 * list of them does not help the operator.
 */
const toReason = (error: Error): string => {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return toReason(error.errors[0])
  if ('library' in error && 'reason' in error) return `TLS: ${error.reason}`
  const text = error.message || ('code' in error ? String(error.code) : error.name)
  return text
    .replace(/\bNOAUTH .*/s, 'NOAUTH, it wants a password')
    .replace(
      / Retrying from scratch after \d+ms\.|\. Please report this\.|; if the root CA is installed locally.*/g,
      '',
    )
    .replace(/\s+/g, ' ')
}

/** The most frequent cause of an error that names none. */
const withGuess = (why: string, isTls: boolean): string => {
  if (/RESP type|Protocol error/.test(why)) return `${why} (is it a Redis?)`
  if (isTls && /ETIMEDOUT|ECONNRESET|ended the connection/.test(why)) return `${why} (does it speak TLS?)`
  return !isTls && /ECONNRESET/.test(why) ? `${why} (does it want TLS, rediss://?)` : why
}
