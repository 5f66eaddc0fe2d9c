import type { Clock } from '../../clock.ts'
import type { PushedRequest, PushedRequestStore } from '../ports/pushed-requests.ts'
import { createCap } from './cap.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

export const createPushedRequests = (db: Database, clock: Clock): PushedRequestStore => {
  const insert = db.prepare('INSERT OR REPLACE INTO pushed_requests (id, request, until_ms) VALUES (?, ?, ?)')
  const select = db.prepare<{ readonly request: string | null }>(
    'SELECT request FROM pushed_requests WHERE id = ? AND until_ms > ?',
  )
  // Completing a request removes its parameters. Changes no row if another interaction was first.
  const complete = db.prepare(`
    INSERT INTO pushed_requests (id, completed_by, until_ms) VALUES (?1, ?2, ?3)
    ON CONFLICT (id) DO UPDATE SET request = NULL, completed_by = ?2, until_ms = ?3
    WHERE completed_by IS NULL OR completed_by = ?2 OR until_ms <= ?4`)
  const cleanUp = createCleanup(db, clock, 'pushed_requests')
  const removeBeyond = createCap(db, clock, 'pushed_requests')
  return {
    create: async (id, request, untilMs, limit) => {
      insert.run(id, JSON.stringify(request), untilMs)
      cleanUp()
      return limit === undefined || !request.isUnproven ? 0 : removeBeyond(limit)
    },
    find: async id => {
      const text = select.get(id, clock.nowMs())?.request ?? undefined
      return text === undefined ? undefined : (JSON.parse(text) as PushedRequest)
    },
    complete: async (id, interactionId, untilMs) => complete.run(id, interactionId, untilMs, clock.nowMs()) === 1,
  }
}
