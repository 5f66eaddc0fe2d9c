import type { Clock } from '../../clock.ts'
import type { ReplayStore } from '../ports/replays.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

export const createReplays = (db: Database, clock: Clock): ReplayStore => {
  // Changes no row if the id is known or too old, and one if it is new or the row has expired.
  const insert = db.prepare(`
    INSERT INTO replays (id, until_ms) SELECT ?1, ?2 WHERE ?2 > ?3
    ON CONFLICT (id) DO UPDATE SET until_ms = ?2 WHERE until_ms <= ?3`)
  const cleanUp = createCleanup(db, clock, 'replays')
  return {
    spend: async ids =>
      db.exclusively(() => {
        const isNew = ids.map(({ id, untilMs }) => insert.run(id, untilMs, clock.nowMs()) === 1)
        cleanUp()
        return isNew
      }),
  }
}
