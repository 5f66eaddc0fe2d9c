import type { Clock } from '../clock.ts'
import { openStore } from './open.ts'
import { openCopyTarget } from './redis/copy-target.ts'
import { requireStore } from './sqlite/backup.ts'
import { openDatabase } from './sqlite/database.ts'
import { exportRecords, fingerprintOf, type MovedCounts, readKeys } from './sqlite/export-records.ts'
import type { RedisUrl } from './store-url.ts'

/**
 * Copies an embedded store that no gateway uses into a Redis that none has used yet, and keeps both from gateways until it
 * is done: what was issued is good there, what was revoked stays revoked. The file stays as it is, a log beside it aside, which
 * is in it then. Plan limits are counted elsewhere and begin afresh.
 *
 * @throws Error one line for a person: the file is in use, no store or of another version; or the Redis has been used
 * @throws StoreUnavailableError where Redis does not answer; copying again does the rest
 */
export const copyStore = async (path: string, to: RedisUrl, clock: Clock): Promise<MovedCounts> => {
  requireStore(path)
  await using cleanup = new AsyncDisposableStack()
  const db = cleanup.adopt(await openDatabase(path, 'alone'), opened => opened.close())
  const source = { fingerprint: fingerprintOf(db), ...readKeys(db, clock) }
  const target = cleanup.adopt(await openCopyTarget(to, clock, source), opened => opened.close())
  const store = cleanup.adopt(await openStore(to, clock), opened => opened.close())
  await target.begin()
  const counts = await exportRecords(db, store, clock)
  await target.complete()
  return { ...counts, signing_keys: source.keys.length }
}
