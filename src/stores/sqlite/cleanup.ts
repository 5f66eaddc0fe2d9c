import type { Clock } from '../../clock.ts'
import { poll } from '../../poll.ts'
import type { Database } from './database.ts'
import { type Table, tables } from './schema.ts'

/**
 * One write in this many removes up to `batchRows` expired rows. That is faster than rows are added, and no write is
 * slow.
 */
const writesBetween = 16
const batchRows = 64

/**
 * While no process writes, each process removes up to so many rows of each table at this interval, in milliseconds. The
 * interval grows while it finds nothing.
 */
const sweepEveryMs = 1000
const rarestSweepMs = 30_000
const sweepRows = 256

/** Call the returned function after each write to the table. The file then stays as large as its live rows need. */
export const createCleanup = (db: Database, clock: Clock, table: Table): (() => void) => {
  const remove = prepareRemoval(db, table, batchRows)
  let writes = 0
  return () => {
    if (++writes % writesBetween === 0) remove.run(clock.nowMs())
  }
}

/**
 * Removes expired rows from a file that is no longer written to, until the returned function is called. The search
 * takes no lock. If the file is busy, the rows are left to the next sweep.
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
      // The requests that need to write report a file that cannot be written.
    }
  }
  return poll(sweep, () => pauseMs).close
}

const prepareRemoval = (db: Database, table: Table, rows: number) =>
  db.prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE until_ms <= ? LIMIT ${rows})`)
