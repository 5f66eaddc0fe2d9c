import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { open } from './backup.ts'
import { isBusy } from './database.ts'

/** SQLite's error codes for a file that is damaged or not a database (sqlite.org/rescode.html). */
const unreadable: readonly unknown[] = [11, 26]

/**
 * Prevents every other process from opening a store's file until the returned function is called. Its write-ahead log
 * is merged into the file. A file that does not exist or cannot be read is not in use.
 *
 * @throws Error with one line for the operator, if a process has it open
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
  // A process that has a file in WAL mode open holds a lock on it, and this takes all locks (sqlite.org/wal.html).
  // Without a log the next statement excludes readers as well.
  db.exec('PRAGMA journal_mode = DELETE')
  db.exec('BEGIN EXCLUSIVE')
  const { journal_mode: mode } = { ...db.prepare('PRAGMA journal_mode').get() }
  if (mode !== 'delete')
    throw new Error('another process opened the store file while it was being locked; stop it and try again')
}
