import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { versionOf } from './database.ts'
import { schemaVersion } from './schema.ts'

/**
 * Copies an embedded store, as it is at one moment, into a file of its own (mode 0600, because it contains the signing
 * keys). Other processes continue to read and write. No process ever sees an incomplete copy.
 *
 * @throws Error with one line for the operator: there is a file of that name, or one of the two cannot be read or
 * written
 */
export const backUpFile = async (from: string, to: string): Promise<void> => {
  if (existsSync(to)) throw new Error(taken(to))
  const part = newPart(to)
  try {
    await copyFile(from, part)
    putAt(to, part)
  } finally {
    rmSync(part, { force: true })
  }
}

const taken = (path: string): string => `there is a file at ${path} already`

/**
 * A temporary name for the file that becomes `path` when it is complete. Processes that create it at the same time use
 * different names.
 */
export const newPart = (path: string): string => `${path}.${randomUUID().slice(0, 8)}.part`

/**
 * Renames the temporary file.
 * @throws Error if a file has that name by then
 */
export const putAt = (to: string, part: string): undefined => {
  try {
    linkSync(part, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Error(taken(to), { cause: error })
    renameSync(part, to) // where files have one name each
  }
}

/**
 * All pages are copied in one step: a write of another process between two steps would restart the copy. In WAL mode a
 * reader does not block writers.
 */
const allPages = 2 ** 31 - 1

/**
 * @param to a file that does not exist
 * @throws Error with one line for the operator; then no part of the copy remains
 */
export const copyFile = async (from: string, to: string): Promise<void> => {
  const source = open(from)
  try {
    closeSync(openSync(to, 'wx', 0o600))
    await backup(source, to, { rate: allPages })
    leaveOneFile(to)
  } catch (error) {
    rmSync(to, { force: true })
    throw new Error(`${from} cannot be copied to ${to}: ${messageOf(error)}`, { cause: error })
  } finally {
    source.close()
  }
}

/** A copy is in WAL mode as its original is. Without WAL mode it has no other files beside it. */
const leaveOneFile = (path: string): void => {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
}

/**
 * @throws Error with one line for the operator, if the file does not exist, is damaged, or is not a store that this
 * version can read
 */
export const requireStore = (path: string): void => {
  const db = open(path)
  try {
    const version = versionOf(db)
    const { quick_check: fault } = { ...db.prepare('PRAGMA quick_check(1)').get() }
    if (fault !== 'ok') throw new Error(String(fault))
    if (!isKeyed(db)) throw new Error('it has no table of signing keys')
    if (version === 0) throw new Error('it has no version')
    if (version > schemaVersion) throw new Error('it was created by a newer Sidegate')
  } catch (error) {
    throw new Error(`${path} is not a Sidegate store: ${messageOf(error)}`, { cause: error })
  } finally {
    db.close()
  }
}

const isKeyed = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'signing_keys'").get() !== undefined

/** How long to wait for a busy file, in milliseconds; a write of the gateway takes tens of microseconds. */
const patienceMs = 1000

/** @throws Error with one line for the operator, if there is no file or it cannot be opened; it is not created */
export const open = (path: string): DatabaseSync => {
  if (!existsSync(path)) throw new Error(`there is no file at ${path}`)
  try {
    return new DatabaseSync(path, { timeout: patienceMs })
  } catch (error) {
    throw new Error(`${path} cannot be opened: ${messageOf(error)}`, { cause: error })
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
