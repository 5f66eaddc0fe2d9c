import type { Clock } from '../../clock.ts'
import type { Database } from './database.ts'
import { unprovenRows } from './schema.ts'

/** At a limit of many, so many rows more are removed at once: rows are counted once for as many new ones. */
const slackShare = 64
const maxSlack = 256

/**
 * Bounds the rows of a table that strangers left. Call the returned function after each row that is added; it answers how many
 * rows it has removed, the oldest first.
 *
 * To count rows takes a millisecond for a hundred thousand. A row's number is higher than those before it, so after a count
 * the numbers alone tell whether there can be more rows than the limit, whichever process added them.
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
