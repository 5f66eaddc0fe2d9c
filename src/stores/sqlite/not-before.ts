import type { Clock } from '../../clock.ts'
import type { NotBefore, NotBeforeStore } from '../ports/not-before.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

export interface CutoffRow {
  readonly place: number
  readonly client_id: string | null
  readonly sub: string | null
  readonly through_sec: number
  readonly until_ms: number
}

export const createCutoffs = (db: Database, clock: Clock): NotBeforeStore => {
  const insert = db.prepare('INSERT INTO cutoffs (client_id, sub, through_sec, until_ms) VALUES (?, ?, ?, ?)')
  const select = db.prepare<CutoffRow>('SELECT * FROM cutoffs WHERE place > ? AND until_ms > ? ORDER BY place')
  const cleanUp = createCleanup(db, clock, 'cutoffs')
  return {
    add: async ({ client_id, sub, throughSec, untilMs }) => {
      insert.run(client_id ?? null, sub ?? null, throughSec, untilMs)
      cleanUp()
    },
    since: async cursor => {
      const rows = select.all(Number(cursor ?? 0), clock.nowMs())
      return { cutoffs: rows.map(toCutoff), cursor: String(rows.at(-1)?.place ?? cursor ?? 0) }
    },
  }
}

export const toCutoff = ({ client_id, sub, through_sec, until_ms }: CutoffRow): NotBefore => ({
  ...(client_id !== null && { client_id }),
  ...(sub !== null && { sub }),
  throughSec: through_sec,
  untilMs: until_ms,
})
