import type { RedisOptions } from 'ioredis'
import { startDelayingProxy } from '../../support/delaying-proxy.ts'
import { type RunningRedis, startRedis, startSentinel } from '../../support/redis.ts'

/** The Redis processes that count the plans of a stage. */
export interface Redises {
  /** `store:` of Sidegate. */
  readonly url: string
  /** The same for ioredis. */
  readonly options: RedisOptions
  /** The one that counts at first. */
  readonly primary: RunningRedis
  /** The one that takes over when the first is gone; only where Sentinels watch. */
  readonly replica?: RunningRedis
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Round trip to a Redis that is far, in milliseconds. */
const farMs = 20

/** One Redis on this machine. */
export const startNear = async (t: Teardown): Promise<Redises> => {
  const primary = await startRedis(t)
  return { url: primary.url, options: optionsOf(primary.port), primary }
}

/** One Redis with a long way to it. */
export const startFar = async (t: Teardown): Promise<Redises> => {
  const primary = await startRedis(t)
  const { port } = await startDelayingProxy(t, primary.port, farMs)
  return { url: `redis://127.0.0.1:${port}`, options: optionsOf(port), primary }
}

/** A primary and a replica under the eyes of a Sentinel. */
export const startWatched = async (t: Teardown): Promise<Redises> => {
  const replication = ['--repl-diskless-sync-delay', '0']
  const primary = await startRedis(t, replication)
  const replica = await startRedis(t, [...replication, '--replicaof', '127.0.0.1', `${primary.port}`])
  const { port } = await startSentinel(t, primary.port)
  return {
    url: `redis+sentinel://127.0.0.1:${port}/fleet`,
    options: { sentinels: [{ host: '127.0.0.1', port }], name: 'fleet' },
    primary,
    replica,
  }
}

const optionsOf = (port: number): RedisOptions => ({ host: '127.0.0.1', port })
