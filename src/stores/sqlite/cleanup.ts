import type { Clock } from '../../clock.ts'
import { poll } from '../../poll.ts'
import type { Database } from './database.ts'
import { type Table, tables } from './schema.ts'

/** One write in this many removes expired rows, up to `batchRows`: faster than rows can come, and no write is slow. */
const writesBetween = 16
const batchRows = 64

/**
 * While nobody writes, each process removes up to so many rows of each table so often, in milliseconds. Where it finds nothing it
 * looks less and less often.
 */
const sweepEveryMs = 1000
const rarestSweepMs = 30_000
const sweepRows = 256

/** Call the returned function after each write to the table; the file then stays as large as its live rows need. */
export const createCleanup = (db: Database, clock: Clock, table: Table): (() => void) => {
  const remove = prepareRemoval(db, table, batchRows)
  let writes = 0
  return () => {
    if (++writes % writesBetween === 0) remove.run(clock.nowMs())
  }
}

/**
 * Removes what has expired from a file that is no longer written to, until the returned function is called. Looking for
 * it takes no lock; a sweep that finds the file busy leaves its rows to the next one.
 */
export const startSweeping = (db: Database, clock: Clock): (() => void) => {
  const removals = tables.map(table => ({
    find: db.prepare(`SELECT 1 FROM ${table} WHERE until_ms <= ? LIMIT 1`),
    remove: prepareRemoval(db, table, sweepRows),
  }))
  let pauseMs = sweepEveryMs
  const sweep = (): void => {
    pauseMs = Math.min(rarestSweepMs, 2 * pauseMs)
    try {
      for (const { find, remove } of removals) {
        if (!find.get(clock.nowMs())) continue
        pauseMs = sweepEveryMs
        remove.run(clock.nowMs())
      }
    } catch {
      // A file that cannot be written now is said by those who need it.
    }
  }
  return poll(sweep, () => pauseMs).close
}

const prepareRemoval = (db: Database, table: Table, rows: number) =>
  db.prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE until_ms <= ? LIMIT ${rows})`)
