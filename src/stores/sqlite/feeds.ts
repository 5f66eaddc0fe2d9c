import type { FeedName, FeedStore } from '../ports/feeds.ts'
import type { Database } from './database.ts'

interface SequenceRow {
  readonly name: string
  readonly seq: number
}

/** SQLite records the last place of each table that assigns none twice (`AUTOINCREMENT`); the feeds are such tables. */
export const createFeeds = (db: Database): FeedStore => {
  const select = db.prepare<SequenceRow>('SELECT name, seq FROM sqlite_sequence')
  return {
    ends: async () => {
      const rows = select.all()
      const endOf = (feed: FeedName): string => String(rows.find(({ name }) => name === feed)?.seq ?? 0)
      return { revocations: endOf('revocations'), cutoffs: endOf('cutoffs'), clients: endOf('clients') }
    },
  }
}
