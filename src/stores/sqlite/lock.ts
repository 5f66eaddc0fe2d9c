import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { open } from './backup.ts'
import { isBusy } from './database.ts'

/** What SQLite says of a file that is none of its own, or broken (sqlite.org/rescode.html). */
const unreadable: readonly unknown[] = [11, 26]

/**
 * Keeps every other process from a store's file until the returned function is called; what was in its log is in the file
 * then. What is not there, or cannot be read, is in nobody's use.
 *
 * @throws Error one line for a person, where a process has it open
 */
export const acquireExclusiveLock = (path: string): (() => void) => {
  if (!existsSync(path)) return () => undefined
  const db = open(path)
  const release = (): void => db.close()
  try {
    lock(db)
    return release
  } catch (error) {
    if (unreadable.includes((error as { readonly errcode?: unknown }).errcode)) return release
    release()
    const reason = isBusy(error) ? 'is in use: stop the gateway first' : `cannot be locked: ${(error as Error).message}`
    throw new Error(`${path} ${reason}`, { cause: error })
  }
}

const lock = (db: DatabaseSync): void => {
  // Whoever has a file in WAL mode open holds a lock on it, and this takes all of them (sqlite.org/wal.html); without a log
  // the next one keeps readers out as well.
  db.exec('PRAGMA journal_mode = DELETE')
  db.exec('BEGIN EXCLUSIVE')
  const { journal_mode: mode } = { ...db.prepare('PRAGMA journal_mode').get() }
  if (mode !== 'delete') throw new Error('it became busy between the two')
}
