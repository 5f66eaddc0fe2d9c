import type { Clock } from '../../clock.ts'
import type { KeyRecord, KeyStore } from '../ports.ts'
import type { Database } from './database.ts'

interface KeyRow {
  readonly kid: string
  readonly alg: string
  readonly created_at_ms: number
  readonly jwk: string
}

export const createKeys = (db: Database, clock: Clock): KeyStore => {
  const select = db.prepare<KeyRow>(
    'SELECT kid, alg, created_at_ms, jwk FROM signing_keys WHERE until_ms > ? ORDER BY created_at_ms, kid',
  )
  const renew = db.prepare('UPDATE signing_keys SET until_ms = ?1 WHERE until_ms > ?2 AND until_ms < ?1')
  const removeExpired = db.prepare('DELETE FROM signing_keys WHERE until_ms <= ?')
  const insert = db.prepare(`
    INSERT INTO signing_keys (kid, alg, created_at_ms, jwk, until_ms) SELECT ?1, ?2, ?3, ?4, ?5
    WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE alg = ?2)`)
  return {
    load: async untilMs =>
      db.exclusively(() => {
        renew.run(untilMs, clock.nowMs())
        return select.all(clock.nowMs()).map(toRecord)
      }),
    createFirst: async (record, untilMs) =>
      db.exclusively(() => {
        removeExpired.run(clock.nowMs())
        insert.run(record.kid, record.alg, record.createdAtMs, JSON.stringify(record.jwk), untilMs)
        return select.all(clock.nowMs()).map(toRecord)
      }),
  }
}

const toRecord = (row: KeyRow): KeyRecord => ({
  kid: row.kid,
  alg: row.alg,
  createdAtMs: row.created_at_ms,
  jwk: JSON.parse(row.jwk),
})
