import type { Clock } from '../../clock.ts'
import type { Database } from './database.ts'
import { unprovenRows } from './schema.ts'

/**
 * With a limit of many, this fraction of it is removed in addition, so that rows are counted only once for as many new
 * ones.
 */
const slackShare = 64
const maxSlack = 256

/**
 * Bounds the rows of a table whose user or client has not authenticated. Call the returned function after each row that
 * is added; it returns how many rows it has removed, the oldest first.
 *
 * Counting takes a millisecond for a hundred thousand rows. Row ids only increase, so after a count the ids alone tell
 * whether the table can have more rows than the limit, whichever process added them.
 */
export const createCap = (db: Database, clock: Clock, table: keyof typeof unprovenRows) => {
  const condition = unprovenRows[table]
  const selectLast = db.prepare<{ readonly last: number | null }>(`SELECT max(rowid) AS last FROM ${table}`)
  const selectCount = db.prepare<{ readonly rows: number }>(
    `SELECT count(*) AS rows FROM ${table} WHERE ${condition} AND until_ms > ?`,
  )
  const remove = db.prepare(`DELETE FROM ${table} WHERE rowid IN (
    SELECT rowid FROM ${table} WHERE ${condition} AND until_ms > ? ORDER BY until_ms, rowid LIMIT ?)`)
  const countRows = (): number => selectCount.get(clock.nowMs())?.rows ?? 0

  let counted = { last: 0, room: -1 }
  const removeBeyond = (limit: number): number =>
    db.exclusively(() => {
      const excess = countRows() - limit
      return excess > 0 ? remove.run(clock.nowMs(), excess + Math.min(maxSlack, Math.floor(limit / slackShare))) : 0
    })
  return (limit: number): number => {
    const last = selectLast.get()?.last ?? 0
    if (last >= counted.last && last - counted.last <= counted.room) return 0
    const removed = countRows() > limit ? removeBeyond(limit) : 0
    counted = { last, room: limit - countRows() }
    return removed
  }
}
