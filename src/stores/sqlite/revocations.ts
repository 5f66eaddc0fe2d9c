import type { Clock } from '../../clock.ts'
import type { RevocationStore } from '../ports/revocations.ts'
import { grantIdOf } from '../ports/revocations.ts'
import { tokensEndAtMs } from '../shared/grant-rules.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'
import { createGrantFinder } from './grant-rows.ts'

interface FeedRow {
  readonly place: number
  readonly id: string
  readonly until_ms: number
}

export const createRevocations = (db: Database, clock: Clock): RevocationStore => {
  // REPLACE moves a repeated revocation to the end of the feed. AUTOINCREMENT never assigns a place twice, so a reader
  // misses nothing if the last row that it read has been deleted.
  const insert = db.prepare<{ readonly until_ms: number }>(`
    INSERT OR REPLACE INTO revocations (id, until_ms)
    VALUES (?1, max(?2, coalesce((SELECT until_ms FROM revocations WHERE id = ?1), 0)))
    RETURNING until_ms`)
  const findGrant = createGrantFinder(db, clock)
  const forget = db.prepare('DELETE FROM grants WHERE grant_id = ?')
  const select = db.prepare('SELECT 1 FROM revocations WHERE id IN (?, ?) AND until_ms > ? LIMIT 1')
  const feed = db.prepare<FeedRow>(
    'SELECT place, id, until_ms FROM revocations WHERE place > ? AND until_ms > ? ORDER BY place',
  )
  const cleanUp = createCleanup(db, clock, 'revocations')
  return {
    revoke: async (id, untilMs) =>
      db.exclusively(() => {
        const grant = findGrant(id) // a `jti` is no grant's id
        const tokensUntilMs = grant ? tokensEndAtMs(grant, clock.nowMs()) : 0
        const kept = insert.get(id, Math.max(untilMs, tokensUntilMs))
        forget.run(id)
        cleanUp()
        return kept?.until_ms ?? untilMs
      }),
    isRevoked: async jti => select.get(jti, grantIdOf(jti), clock.nowMs()) !== undefined,
    since: async cursor => {
      const rows = feed.all(Number(cursor ?? 0), clock.nowMs())
      return {
        revocations: rows.map(row => ({ id: row.id, untilMs: row.until_ms })),
        cursor: String(rows.at(-1)?.place ?? cursor ?? 0),
      }
    },
  }
}
