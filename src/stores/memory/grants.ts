import type { GrantState } from '../ports/grant-state.ts'
import type { GrantStore } from '../ports/grants.ts'
import {
  type Decision,
  decideRedemption,
  decideRefresh,
  newGrantState,
  toCurrentRefresh,
} from '../shared/grant-rules.ts'
import type { ExpiringMap } from './expiring-map.ts'
import { type KeptTokens, nameOf } from './tokens.ts'

export const createGrants = (
  grants: ExpiringMap<GrantState>,
  tokens: KeptTokens,
  isRevoked: (id: string) => boolean,
): GrantStore => {
  const find = (grantId: string): GrantState | undefined => (isRevoked(grantId) ? undefined : grants.get(grantId))
  const settle = <Outcome>(grantId: string, rule: (state: GrantState) => Decision<Outcome>): Outcome | undefined => {
    const state = find(grantId)
    if (!state) return undefined
    const { outcome, next, token } = rule(state)
    if (next) grants.set(grantId, next, next.untilMs)
    if (token) tokens.set(nameOf(grantId, token.digest), token.record, token.record.exp * 1000)
    return outcome
  }
  return {
    create: async grant => grants.set(grant.grantId, newGrantState(grant), grant.untilMs),
    redeem: async redemption =>
      settle(redemption.grantId, state => decideRedemption(state, redemption)) ?? { kind: 'refused' },
    refresh: async attempt => settle(attempt.grantId, state => decideRefresh(state, attempt)) ?? { kind: 'refused' },
    findCurrentRefresh: async (grantId, client_id) => {
      const state = find(grantId)
      return state && toCurrentRefresh(state, client_id)
    },
    remove: async grantId => grants.delete(grantId),
    adopt: async (grantId, state) => grants.set(grantId, state, state.untilMs),
  }
}
