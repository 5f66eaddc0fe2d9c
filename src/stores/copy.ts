import type { Clock } from '../clock.ts'
import { openStore } from './open.ts'
import { openCopyTarget } from './redis/copy-target.ts'
import { requireStore } from './sqlite/backup.ts'
import { openDatabase } from './sqlite/database.ts'
import { exportRecords, fingerprintOf, type MovedCounts, readKeys } from './sqlite/export-records.ts'
import type { RedisUrl } from './store-url.ts'

/**
 * Copies an embedded store that no gateway uses into an empty Redis. Gateways can use neither until it is done.
 * Everything that was issued is valid there, and revocations hold. The file does not change, except that its
 * write-ahead log is merged into it. Plan limits are counted elsewhere and start from zero.
 *
 * @throws Error with one line for the operator: the file is in use, is not a store or is of another version, or the
 * Redis is not empty
 * @throws StoreUnavailableError if Redis does not answer; a repeated copy continues
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
