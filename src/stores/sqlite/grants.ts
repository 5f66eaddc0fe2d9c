import type { Clock } from '../../clock.ts'
import { type GrantState, newGrantState, type Ruling, ruleRedemption, ruleRefresh } from '../grant-rules.ts'
import type { GrantStore } from '../ports.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

interface GrantRow {
  readonly record: string
  readonly code_digest: string
  readonly code_proof: string
  readonly code_expires_at_ms: number
  readonly spent: number
  readonly failures: number
  readonly refresh_digest: string | null
  readonly previous_digest: string | null
  readonly refreshed_at_ms: number
  readonly generation: number
  readonly until_ms: number
}

export const createGrants = (db: Database, clock: Clock): GrantStore => {
  const select = db.prepare<GrantRow>(`
    SELECT * FROM grants WHERE grant_id = ?1 AND until_ms > ?2
    AND NOT EXISTS (SELECT 1 FROM revocations WHERE id = ?1 AND until_ms > ?2)`)
  const upsert = db.prepare(`
    INSERT OR REPLACE INTO grants (grant_id, record, code_digest, code_proof, code_expires_at_ms, spent, failures,
      refresh_digest, previous_digest, refreshed_at_ms, generation, until_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const remove = db.prepare('DELETE FROM grants WHERE grant_id = ?')
  const cleanUp = createCleanup(db, clock, 'grants')

  const find = (grantId: string): GrantState | undefined => {
    const row = select.get(grantId, clock.nowMs())
    return row && toState(row)
  }
  const save = (grantId: string, state: GrantState): void => {
    upsert.run(grantId, ...toColumns(state))
    cleanUp()
  }
  /** Reads, decides and writes as one step: BEGIN IMMEDIATE keeps every other writer out meanwhile. */
  const settle = <Outcome>(grantId: string, rule: (state: GrantState) => Ruling<Outcome>): Outcome | undefined =>
    db.exclusively(() => {
      const state = find(grantId)
      if (!state) return undefined
      const { outcome, next } = rule(state)
      if (next) save(grantId, next)
      return outcome
    })
  return {
    create: async grant => save(grant.grantId, newGrantState(grant)),
    redeem: async redemption =>
      settle(redemption.grantId, state => ruleRedemption(state, redemption)) ?? { kind: 'refused' },
    refresh: async attempt => settle(attempt.grantId, state => ruleRefresh(state, attempt)) ?? { kind: 'refused' },
    findByRefresh: async (grantId, digest) => {
      const state = find(grantId)
      if (!state || state.refreshDigest !== digest) return undefined
      return { record: state.record, untilMs: state.untilMs, createdAtMs: state.refreshedAtMs }
    },
    remove: async grantId => void remove.run(grantId),
  }
}

const toState = (row: GrantRow): GrantState => ({
  record: JSON.parse(row.record),
  codeDigest: row.code_digest,
  codeProof: row.code_proof,
  codeExpiresAtMs: row.code_expires_at_ms,
  spent: row.spent === 1,
  failures: row.failures,
  ...(row.refresh_digest !== null && { refreshDigest: row.refresh_digest }),
  ...(row.previous_digest !== null && { previousDigest: row.previous_digest }),
  refreshedAtMs: row.refreshed_at_ms,
  generation: row.generation,
  untilMs: row.until_ms,
})

const toColumns = (state: GrantState): (string | number | null)[] => [
  JSON.stringify(state.record),
  state.codeDigest,
  state.codeProof,
  state.codeExpiresAtMs,
  state.spent ? 1 : 0,
  state.failures,
  state.refreshDigest ?? null,
  state.previousDigest ?? null,
  state.refreshedAtMs,
  state.generation,
  state.untilMs,
]
