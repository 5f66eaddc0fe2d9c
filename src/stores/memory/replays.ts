import type { Clock } from '../../clock.ts'
import type { ReplayStore } from '../ports/replays.ts'
import { createExpiringMap } from './expiring-map.ts'

export const createReplays = (clock: Clock): ReplayStore => {
  const spent = createExpiringMap<true>(clock)
  const spendOne = (id: string, untilMs: number): boolean => {
    if (untilMs <= clock.nowMs() || spent.get(id)) return false
    spent.set(id, true, untilMs)
    return true
  }
  return {
    spend: async ids => ids.map(({ id, untilMs }) => spendOne(id, untilMs)),
  }
}
