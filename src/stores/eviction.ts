import { Cluster } from 'ioredis'
import { poll } from '../poll.ts'
import { connectRedis, type RedisConnection, waitUntilReady } from './redis/connection.ts'
import type { RedisUrl } from './store-url.ts'

/** Whether Redis may evict keys before they expire because its memory is full. */
export interface EvictionWatch {
  /**
   * The policies other than `noeviction`. Undefined until Redis has reported its policy, or if this user may not read
   * it.
   */
  policies(): readonly string[] | undefined
  close(): void
}

/** Longest wait for a reply, and for any data before the connection is made again, in milliseconds. */
const limits = { commandTimeoutMs: 1000, silenceMs: 2000 } as const

/** An operator may change the policy at any time, and after a failover the new server may have another one. */
const readEveryMs = 60_000

/** @param changed called after each reading that differs from the one before */
export const watchEviction = (url: RedisUrl, changed: () => void): EvictionWatch => {
  const connection = connectRedis(url, limits)
  let found: readonly string[] | undefined
  const read = async (): Promise<void> => {
    // While Redis is unavailable the last reading holds.
    await waitUntilReady(connection, limits.commandTimeoutMs)
    const now = await readPolicies(connection).catch(() => found)
    if (now?.join() === found?.join()) return
    found = now
    changed()
  }
  const reading = poll(read, readEveryMs)
  connection.on('ready', read)
  return {
    policies: () => found,
    close() {
      reading.close()
      connection.disconnect()
    },
  }
}

/** Reads the policies once, for a command. */
export const readEvictionPolicies = async (url: RedisUrl): Promise<readonly string[] | undefined> => {
  const connection = connectRedis(url, limits)
  try {
    await waitUntilReady(connection, limits.commandTimeoutMs)
    return await readPolicies(connection).catch(() => undefined)
  } finally {
    connection.disconnect()
  }
}

/**
 * Read with INFO and not with CONFIG GET, which managed Redis services refuse. Undefined if a server does not report
 * its policy.
 */
const readPolicies = async (connection: RedisConnection): Promise<readonly string[] | undefined> => {
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection]
  const policies = (await Promise.all(servers.map(server => server.info('memory')))).map(
    info => /^maxmemory_policy:(\S+)/m.exec(info)?.[1],
  )
  if (policies.length === 0 || policies.includes(undefined)) return undefined
  return [...new Set(policies.filter(policy => policy !== undefined && policy !== 'noeviction'))].sort() as string[]
}
