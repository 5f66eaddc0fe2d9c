import type { Clock } from '../../clock.ts'
import type { GrantState } from '../ports/grant-state.ts'
import type { GrantStore } from '../ports/grants.ts'
import {
  type Decision,
  decideRedemption,
  decideRefresh,
  newGrantState,
  toCurrentRefresh,
} from '../shared/grant-rules.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'
import { createGrantFinder, toColumns } from './grant-rows.ts'
import { createTokenWriter } from './token-rows.ts'

export const createGrants = (db: Database, clock: Clock): GrantStore => {
  const find = createGrantFinder(db, clock)
  const upsert = db.prepare(`
    INSERT OR REPLACE INTO grants (grant_id, record, code_digest, code_proof, code_expires_at_ms, spent, failures,
      refresh_digest, binding, previous_digest, refreshed_at_ms, generation, longest_token_sec, until_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const remove = db.prepare('DELETE FROM grants WHERE grant_id = ?')
  const saveToken = createTokenWriter(db, clock)
  const cleanUp = createCleanup(db, clock, 'grants')

  const save = (grantId: string, state: GrantState): void => {
    upsert.run(grantId, ...toColumns(state))
    cleanUp()
  }
  /** Reads, decides and writes in one step: BEGIN IMMEDIATE excludes every other writer meanwhile. */
  const settle = <Outcome>(grantId: string, rule: (state: GrantState) => Decision<Outcome>): Outcome | undefined =>
    db.exclusively(() => {
      const state = find(grantId)
      if (!state) return undefined
      const { outcome, next, token } = rule(state)
      if (next) save(grantId, next)
      if (token) saveToken(grantId, token.digest, token.record, token.record.exp * 1000)
      return outcome
    })
  return {
    create: async grant => save(grant.grantId, newGrantState(grant)),
    redeem: async redemption =>
      settle(redemption.grantId, state => decideRedemption(state, redemption)) ?? { kind: 'refused' },
    refresh: async attempt => settle(attempt.grantId, state => decideRefresh(state, attempt)) ?? { kind: 'refused' },
    findCurrentRefresh: async (grantId, client_id) => {
      const state = find(grantId)
      return state && toCurrentRefresh(state, client_id)
    },
    remove: async grantId => void remove.run(grantId),
    adopt: async (grantId, state) => save(grantId, state),
  }
}
