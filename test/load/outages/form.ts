import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'ioredis'
import type { RunningRedis } from '../../support/redis.ts'
import { placeOfSlot } from '../../support/redis-cluster.ts'

/** One way in which Redis goes away and comes back. */
export interface Form {
  /** On the command line. */
  readonly name: string
  readonly title: string
  start(t: Teardown): Promise<Staged>
}

/** A Redis that is there, and will go. */
export interface Staged {
  /** `store:` of Sidegate. */
  readonly store: string
  /** Clients whose counters are in the part that goes. */
  readonly clientIds: readonly string[]
  goAway(): Promise<void>
  /**
   * Resolves when Redis takes commands again, which a connection of its own finds out. No client can be served
   * before.
   */
  comeBack(): Promise<void>
}

export interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** How long a Redis is away that does not come back by itself, in milliseconds. */
export const awayMs = 3000

/** How often it is looked whether Redis is back, in milliseconds. */
const lookEveryMs = 2

export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  while (!(await condition())) await sleep(lookEveryMs)
}

/** Resolves when a Redis takes writes: while it loads, follows or has lost its Cluster it answers, but takes none. */
export const untilWritable = ({ client }: RunningRedis, key = 'probe'): Promise<void> =>
  until(async () => (await client.set(key, '', 'PX', 1000).catch(() => undefined)) === 'OK')

/** The plan that all clients of the load have. */
export const planName = 'steady'

/** Clients where it does not matter which. */
export const anyClients: readonly string[] = ['c1', 'c2', 'c3']

/** Clients whose counters are on the node of a Cluster at this place. */
export const findClientsOf = (place: number): readonly string[] => {
  const ids = Array.from({ length: 100 }, (_, nth) => `c${nth}`)
  return ids.filter(id => placeOf(`${planName}|client:${id}`) === place).slice(0, anyClients.length)
}

/** A key on the node of a Cluster at this place. */
export const findKeyOf = (place: number): string => {
  for (let nth = 0; ; nth++) if (placeOf(`probe-${nth}`) === place) return `{probe-${nth}}`
}

/** Which of three nodes has what has this in braces. */
const placeOf = (tag: string): number => placeOfSlot(new Command('exists', [`{${tag}}`]).getSlot())
