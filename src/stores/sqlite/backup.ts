import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { isBusy } from './database.ts'
import { schemaVersion } from './schema.ts'

/**
 * Copies an embedded store as it stands at one moment into a file of its own (mode 0600: the signing keys are in it), while
 * others read and write on. Nobody ever sees half of it.
 *
 * @throws Error one line for a person: there is a file of that name, or one of the two cannot be read or written
 */
export const backUpFile = async (from: string, to: string): Promise<void> => {
  if (existsSync(to)) throw new Error(`there is a file at ${to} already`)
  await copy(from, to)
}

/**
 * Puts a backup in the place of an embedded store that no process has open; what was there is kept as `FILE.replaced`.
 *
 * @throws Error one line for a person: it is no backup, or a gateway has the store open
 */
export const restoreFile = async (from: string, to: string): Promise<void> => {
  requireStore(from)
  requireUnused(to)
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  const next = `${to}.next`
  rmSync(next, { force: true })
  await copy(from, next)
  // A log that a broken store has left would be played into the new one.
  for (const part of ['', '-wal', '-shm']) if (existsSync(to + part)) renameSync(to + part, `${to}.replaced${part}`)
  renameSync(next, to)
}

/** @throws Error where a process has this store open. What is not there, or no database, is in nobody's use */
export const requireUnused = (path: string): void => {
  if (!existsSync(path)) return
  const db = open(path)
  try {
    // Whoever has a file in WAL mode open holds a lock on it, and this takes all of them: sqlite.org/wal.html. What was in
    // the log is in the file then.
    db.exec('PRAGMA journal_mode = DELETE')
  } catch (error) {
    if (isBusy(error)) throw new Error(`${path} is in use: stop the gateway first`, { cause: error })
  } finally {
    db.close()
  }
}

/** In one step: between two, a write of another process would make it begin anew. Nobody's write waits for a reader. */
const allPages = 2 ** 31 - 1

const copy = async (from: string, to: string): Promise<void> => {
  const part = `${to}.part`
  const source = open(from)
  try {
    rmSync(part, { force: true })
    closeSync(openSync(part, 'wx', 0o600))
    chmodSync(part, 0o600)
    await backup(source, part, { rate: allPages })
    leaveOneFile(part)
    renameSync(part, to)
  } catch (error) {
    rmSync(part, { force: true })
    throw new Error(`${from} cannot be copied to ${to}: ${messageOf(error)}`, { cause: error })
  } finally {
    source.close()
  }
}

/** A copy is in WAL mode as its original is; without it there are no other files beside it. */
const leaveOneFile = (path: string): void => {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = DELETE')
  db.close()
}

/** @throws Error one line for a person, where the file is not there, is broken, or is no store that this version can read */
export const requireStore = (path: string): void => {
  const db = open(path)
  try {
    const { user_version: version } = { ...db.prepare('PRAGMA user_version').get() }
    const { quick_check: fault } = { ...db.prepare('PRAGMA quick_check(1)').get() }
    if (fault !== 'ok') throw new Error(String(fault))
    if (!isKeyed(db)) throw new Error('it has no table of signing keys')
    if (Number(version) > schemaVersion) throw new Error('it was made by a newer Sidegate')
  } catch (error) {
    throw new Error(`${path} is no store of Sidegate: ${messageOf(error)}`, { cause: error })
  } finally {
    db.close()
  }
}

const isKeyed = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'signing_keys'").get() !== undefined

/** How long a busy file is waited for, in milliseconds: a write of the gateway takes tens of microseconds. */
const patienceMs = 1000

/** @throws Error where there is no file; it is not made */
const open = (path: string): DatabaseSync => {
  if (!existsSync(path)) throw new Error(`there is no file at ${path}`)
  try {
    return new DatabaseSync(path, { timeout: patienceMs })
  } catch (error) {
    throw new Error(`${path} cannot be opened: ${messageOf(error)}`, { cause: error })
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
