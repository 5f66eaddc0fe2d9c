import type { Clock } from '../../clock.ts'
import type { GrantState } from '../ports/grant-state.ts'
import type { RevocationStore } from '../ports/revocations.ts'
import { grantIdOf } from '../ports/revocations.ts'
import { tokensEndAtMs } from '../shared/grant-rules.ts'
import { createExpiringMap, type ExpiringMap } from './expiring-map.ts'

/** The port, and a check for the other ports: whether exactly this id is revoked. */
export interface Revocations {
  readonly revocations: RevocationStore
  isRevoked(id: string): boolean
}

/** @param grants from which a revoked grant is deleted */
export const createRevocations = (clock: Clock, grants: ExpiringMap<GrantState>): Revocations => {
  /** Each revoked id with its place in the feed. */
  const revoked = createExpiringMap<number>(clock)
  const isRevoked = (id: string): boolean => revoked.get(id) !== undefined
  let last = 0
  return {
    isRevoked,
    revocations: {
      revoke: async (id, untilMs) => {
        const known = revoked.entry(id)
        const grant = grants.get(id) // a `jti` is no grant's id
        const tokensUntilMs = grant ? tokensEndAtMs(grant, clock.nowMs()) : 0
        const keptUntilMs = Math.max(known?.untilMs ?? 0, untilMs, tokensUntilMs)
        revoked.set(id, ++last, keptUntilMs)
        grants.delete(id)
        return keptUntilMs
      },
      isRevoked: async jti => isRevoked(jti) || isRevoked(grantIdOf(jti)),
      since: async cursor => {
        const seen = Number(cursor ?? 0)
        const fresh = [...revoked.entries()].filter(([, entry]) => entry.value > seen)
        return { revocations: fresh.map(([id, { untilMs }]) => ({ id, untilMs })), cursor: String(last) }
      },
    },
  }
}
