import type { Clock } from '../../clock.ts'
import type { KeyRecord, KeyStore } from '../ports/keys.ts'
import type { Database } from './database.ts'

export interface KeyRow {
  readonly kid: string
  readonly alg: string
  readonly created_at_ms: number
  readonly active_at_ms: number | null
  readonly jwk: string
}

export const createKeys = (db: Database, clock: Clock): KeyStore => {
  const select = db.prepare<KeyRow>(`
    SELECT kid, alg, created_at_ms, active_at_ms, jwk FROM signing_keys WHERE until_ms > ? ORDER BY created_at_ms, kid`)
  const renew = db.prepare('UPDATE signing_keys SET until_ms = ?1 WHERE until_ms > ?2 AND until_ms < ?1')
  const removeExpired = db.prepare('DELETE FROM signing_keys WHERE until_ms <= ?')
  const insert = db.prepare(`
    INSERT OR REPLACE INTO signing_keys (kid, alg, created_at_ms, active_at_ms, jwk, until_ms)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE ?7 IS (SELECT kid FROM signing_keys WHERE alg = ?2 ORDER BY created_at_ms DESC, kid DESC LIMIT 1)`)
  const remove = db.prepare('DELETE FROM signing_keys WHERE kid = ?')
  return {
    load: async untilMs => {
      if (!db.isWritable) return select.all(clock.nowMs()).map(toRecord)
      return db.exclusively(() => {
        renew.run(untilMs, clock.nowMs())
        return select.all(clock.nowMs()).map(toRecord)
      })
    },
    create: async (record, after, untilMs) =>
      db.exclusively(() => {
        removeExpired.run(clock.nowMs())
        insert.run(...toColumns(record), untilMs, after ?? null)
        return select.all(clock.nowMs()).map(toRecord)
      }),
    remove: async kid => void remove.run(kid),
  }
}

export const toRecord = (row: KeyRow): KeyRecord => ({
  kid: row.kid,
  alg: row.alg,
  createdAtMs: row.created_at_ms,
  ...(row.active_at_ms !== null && { activeAtMs: row.active_at_ms }),
  jwk: JSON.parse(row.jwk),
})

const toColumns = ({ kid, alg, createdAtMs, activeAtMs, jwk }: KeyRecord): (string | number | null)[] => [
  kid,
  alg,
  createdAtMs,
  activeAtMs ?? null,
  JSON.stringify(jwk),
]
