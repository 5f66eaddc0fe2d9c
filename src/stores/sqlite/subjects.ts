import type { Clock } from '../../clock.ts'
import type { SubjectStore } from '../ports/subjects.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

export const createSubjects = (db: Database, clock: Clock): SubjectStore => {
  const insert = db.prepare(`
    INSERT INTO subjects (digest, until_ms) VALUES (?1, ?2)
    ON CONFLICT (digest) DO UPDATE SET until_ms = max(until_ms, ?2)`)
  const select = db.prepare('SELECT 1 FROM subjects WHERE digest = ? AND until_ms > ?')
  const cleanUp = createCleanup(db, clock, 'subjects')
  return {
    remember: async (digest, untilMs) => {
      insert.run(digest, untilMs)
      cleanUp()
    },
    has: async digest => select.get(digest, clock.nowMs()) !== undefined,
  }
}
