import { chownSync, existsSync, linkSync, realpathSync, renameSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Clock } from '../clock.ts'
import { copyFile, newPart, putAt, requireStore } from './sqlite/backup.ts'
import { acquireExclusiveLock } from './sqlite/lock.ts'
import { makeFolder } from './sqlite/make-directory.ts'
import { openSqliteStore } from './sqlite.ts'

/**
 * Replaces an embedded store that no process has open with a backup, with the same owner. The previous file is kept
 * beside it, as `FILE.replaced`, or `FILE.replaced.2` and so on.
 *
 * @returns the name of the previous file, undefined if there was none
 * @throws Error with one line for the operator: it is not a backup, a gateway has the store open, or its owner cannot
 * be kept. Then nothing has changed.
 */
export const restoreFile = async (from: string, path: string, clock: Clock): Promise<string | undefined> => {
  const to = existsSync(path) ? realpathSync(path) : path
  requireStore(from)
  // Fails early, because copying takes time. The lock that protects the replacement is taken below.
  acquireExclusiveLock(to)()
  makeFolder(dirname(to))
  const part = newPart(to)
  try {
    await copyFile(from, part)
    await openOnce(part, clock)
    return replace(to, part)
  } finally {
    for (const beside of ['', ...logs]) rmSync(part + beside, { force: true })
  }
}

/** The files that SQLite creates beside a database. */
const logs = ['-wal', '-shm']

/** Opens it as a gateway will, which fails if it is damaged or not a store. */
const openOnce = async (path: string, clock: Clock): Promise<void> => (await openSqliteStore(path, clock)).close()

/** A process that waits for the lock opens the new file after it: see `database.ts`. */
const replace = (to: string, part: string): string | undefined => {
  const release = acquireExclusiveLock(to)
  try {
    const before = statSync(to, { throwIfNoEntry: false })
    if (!before) return putAt(to, part)
    keepOwner(part, before, to)
    const kept = keep(to)
    renameSync(part, to)
    return kept
  } finally {
    release()
  }
}

const keepOwner = (part: string, { uid, gid }: Stats, to: string): void => {
  const own = statSync(part)
  if (own.uid === uid && own.gid === gid) return
  try {
    chownSync(part, uid, gid)
  } catch (error) {
    throw new Error(`${to} belongs to user ${uid}, group ${gid}: restore it as that user, or as root`, { cause: error })
  }
}

/**
 * Gives the file a second name, so that the path always exists. A write-ahead log that a damaged store has left is
 * renamed with it.
 */
const keep = (path: string): string => {
  for (let number = 1; ; number++) {
    const kept = `${resolve(path)}.replaced${number === 1 ? '' : `.${number}`}`
    if (!link(path, kept)) continue
    for (const log of logs) if (existsSync(path + log)) renameSync(path + log, kept + log)
    return kept
  }
}

/** @returns whether the name was free */
const link = (path: string, name: string): boolean => {
  try {
    linkSync(path, name)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw new Error(`${path} cannot be kept as ${name}: ${(error as Error).message}`, { cause: error })
  }
}
