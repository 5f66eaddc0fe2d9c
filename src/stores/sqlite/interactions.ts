import type { Clock } from '../../clock.ts'
import type { InteractionStore } from '../ports/interactions.ts'
import { createCap } from './cap.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

export const createInteractions = (db: Database, clock: Clock): InteractionStore => {
  const insert = db.prepare('INSERT OR REPLACE INTO interactions (id, record, version, until_ms) VALUES (?, ?, 1, ?)')
  const select = db.prepare<{ readonly record: string; readonly version: number }>(
    'SELECT record, version FROM interactions WHERE id = ? AND until_ms > ?',
  )
  const update = db.prepare(
    'UPDATE interactions SET record = ?, version = version + 1 WHERE id = ? AND version = ? AND until_ms > ?',
  )
  const cleanUp = createCleanup(db, clock, 'interactions')
  const removeBeyond = createCap(db, clock, 'interactions')
  return {
    create: async (id, record, untilMs, limit) => {
      insert.run(id, JSON.stringify(record), untilMs)
      cleanUp()
      return limit === undefined ? 0 : removeBeyond(limit)
    },
    find: async id => {
      const row = select.get(id, clock.nowMs())
      return row && { record: JSON.parse(row.record), version: row.version }
    },
    replace: async (id, version, record) => update.run(JSON.stringify(record), id, version, clock.nowMs()) === 1,
  }
}
