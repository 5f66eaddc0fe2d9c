import type { Clock } from '../clock.ts'
import { openStore } from './open.ts'
import { requireStore, requireUnused } from './sqlite/backup.ts'
import { openDatabase } from './sqlite/database.ts'
import { type MovedCounts, moveRecords } from './sqlite/move.ts'
import type { RedisUrl } from './store-url.ts'

/**
 * Copies an embedded store that no gateway uses into a Redis that none has used yet: what was issued is good there, what
 * was revoked stays revoked. Plan limits are counted elsewhere and begin afresh.
 *
 * @throws Error one line for a person: the file is in use or no store, or the Redis has keys of its own
 * @throws StoreUnavailableError where Redis does not answer; copying again does the rest
 */
export const copyStore = async (path: string, to: RedisUrl, clock: Clock): Promise<MovedCounts> => {
  requireStore(path)
  requireUnused(path)
  const db = await openDatabase(path)
  try {
    const store = await openStore(to, clock)
    try {
      return await moveRecords(db, store, clock)
    } finally {
      await store.close()
    }
  } finally {
    db.close()
  }
}
