import type { Clock } from '../../clock.ts'
import type { ReplayStore } from '../ports/replays.ts'
import { answered, type RedisConnection } from './connection.ts'
import { lifetimeMs } from './lifetime.ts'
import { names } from './names.ts'

export const createReplays = (connection: RedisConnection, clock: Clock): ReplayStore => {
  const spendOne = async (id: string, untilMs: number): Promise<boolean> =>
    (await answered(connection.set(names.replay(id), '', 'PX', lifetimeMs(clock, untilMs), 'NX'))) === 'OK'
  return {
    // Sent in one turn of the event loop, so in one round trip; the ids of a Cluster lie in several slots.
    spend: ids => Promise.all(ids.map(({ id, untilMs }) => spendOne(id, untilMs))),
  }
}
