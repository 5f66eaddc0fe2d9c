import type { Clock } from '../../clock.ts'
import type { Database } from './database.ts'
import type { Table } from './schema.ts'

/** One write in this many removes expired rows, up to `batchRows`: faster than rows can come, and no write is slow. */
const writesBetween = 16
const batchRows = 64

/** Call the returned function after each write to the table; the file then stays as large as its live rows need. */
export const createCleanup = (db: Database, clock: Clock, table: Table): (() => void) => {
  const remove = db.prepare(
    `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE until_ms <= ? LIMIT ${batchRows})`,
  )
  let writes = 0
  return () => {
    if (++writes % writesBetween === 0) remove.run(clock.nowMs())
  }
}
