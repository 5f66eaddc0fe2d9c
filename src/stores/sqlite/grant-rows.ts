import type { Clock } from '../../clock.ts'
import type { GrantState } from '../ports/grant-state.ts'
import type { Database } from './database.ts'

export interface GrantRow {
  readonly record: string
  readonly code_digest: string
  readonly code_proof: string
  readonly code_expires_at_ms: number
  readonly spent: number
  readonly failures: number
  readonly refresh_digest: string | null
  readonly binding: string | null
  readonly previous_digest: string | null
  readonly refreshed_at_ms: number
  readonly generation: number
  readonly longest_token_sec: number | null
  readonly until_ms: number
}

/** Finds a grant that is neither expired nor revoked. */
export const createGrantFinder = (db: Database, clock: Clock): ((grantId: string) => GrantState | undefined) => {
  const select = db.prepare<GrantRow>(`
    SELECT * FROM grants WHERE grant_id = ?1 AND until_ms > ?2
    AND NOT EXISTS (SELECT 1 FROM revocations WHERE id = ?1 AND until_ms > ?2)`)
  return grantId => {
    const row = select.get(grantId, clock.nowMs())
    return row && toState(row)
  }
}

export const toState = (row: GrantRow): GrantState => ({
  record: JSON.parse(row.record),
  codeDigest: row.code_digest,
  codeProof: row.code_proof,
  codeExpiresAtMs: row.code_expires_at_ms,
  spent: row.spent === 1,
  failures: row.failures,
  ...(row.refresh_digest !== null && { refreshDigest: row.refresh_digest }),
  ...(row.binding !== null && { binding: row.binding }),
  ...(row.previous_digest !== null && { previousDigest: row.previous_digest }),
  refreshedAtMs: row.refreshed_at_ms,
  generation: row.generation,
  ...(row.longest_token_sec !== null && { longestTokenSec: row.longest_token_sec }),
  untilMs: row.until_ms,
})

/** In the order of the table's columns, without the grant's id. */
export const toColumns = (state: GrantState): (string | number | null)[] => [
  JSON.stringify(state.record),
  state.codeDigest,
  state.codeProof,
  state.codeExpiresAtMs,
  state.spent ? 1 : 0,
  state.failures,
  state.refreshDigest ?? null,
  state.binding ?? null,
  state.previousDigest ?? null,
  state.refreshedAtMs,
  state.generation,
  state.longestTokenSec ?? null,
  state.untilMs,
]
