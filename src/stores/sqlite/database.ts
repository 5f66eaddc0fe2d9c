import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnavailableError } from '../ports/store-unavailable.ts'
import { makeFolder } from './make-directory.ts'
import { migrations, schema, schemaVersion } from './schema.ts'

/**
 * How long a write waits for another process's write, in milliseconds. The wait blocks the event loop, so it must be
 * short. A write takes tens of microseconds, so this is enough for thousands.
 */
const busyTimeoutMs = 1000

/** How long opening is repeated while other processes open the same file, in milliseconds. */
const openPatienceMs = 10_000

/** Whether the error means that another connection holds the lock of the file. */
export const isBusy = (error: unknown): boolean => /locked|busy/i.test(String(error))

/** One connection to the file, for one process. Everything it throws is a StoreUnavailableError. */
export interface Database {
  /** False if it was opened with `read`. */
  readonly isWritable: boolean
  prepare<Row>(sql: string): Statement<Row>
  /** Runs `work` while no other process writes: all of its writes are done, or none. */
  exclusively<Result>(work: () => Result): Result
  close(): void
}

/** A prepared statement. `Row` is the shape that its SQL selects; the schema guarantees it. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  /** Returns the number of rows that changed. */
  run(...values: SQLInputValue[]): number
}

/**
 * `write`: a missing file is created (mode 0600, its folder 0700, because it holds the signing keys), and an old schema
 * is migrated. `read`: the file does not change. `alone`: it does not change, and no other process can open it
 * meanwhile.
 */
export type Access = 'write' | 'read' | 'alone'

/**
 * @throws Error with one line that gives the reason: no permission, not a database, in use, created by a newer
 * Sidegate; with `read` also: created by an older one
 */
export const openDatabase = async (path: string, access: Access = 'write'): Promise<Database> => {
  try {
    return guarded(access === 'write' ? await openFile(path) : openAsItIs(path, access), access)
  } catch (error) {
    throw new Error(`the store sqlite:${path} cannot be opened: ${reasonOf(error)}`, { cause: error })
  }
}

const reasonOf = (error: unknown): string => {
  if (isBusy(error)) return 'it is in use by another process, which has to stop first'
  return error instanceof Error ? error.message : String(error)
}

/** While it waits for a file, a restore may replace it; then the new file is opened. */
const openFile = async (path: string): Promise<DatabaseSync> => {
  makeFolder(dirname(path))
  for (;;) {
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
    const inode = inodeOf(path)
    try {
      const db = await openPrepared(path)
      if (inodeOf(path) === inode) return db
      db.close()
    } catch (error) {
      if (inodeOf(path) === inode) throw error
    }
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino

const openPrepared = async (path: string): Promise<DatabaseSync> => {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  try {
    await patiently(() => prepareFile(db))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const openAsItIs = (path: string, access: 'read' | 'alone'): DatabaseSync => {
  const db = new DatabaseSync(path, { readOnly: access === 'read', timeout: busyTimeoutMs })
  try {
    // The first locks a file in WAL mode, as a gateway leaves it; the second locks one without a log.
    if (access === 'alone') db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    requireThisVersion(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const requireThisVersion = (db: DatabaseSync): void => {
  const found = versionOf(db)
  if (found > schemaVersion) throw new Error(newer)
  if (found === 0) throw new Error('the file is empty or is not a Sidegate store')
  if (found < schemaVersion)
    throw new Error('it was created by an older Sidegate; start a gateway with it once to migrate it')
}

const newer = 'it was created by a newer Sidegate'

/** The schema version of a file; 0: it has no schema. */
export const versionOf = (db: DatabaseSync): number =>
  Number({ ...db.prepare('PRAGMA user_version').get() }.user_version)

/** Many workers open the file at once, and switching a new file to WAL does not wait for the lock as writes do. */
const patiently = async (work: () => void): Promise<void> => {
  const deadlineMs = performance.now() + openPatienceMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error
      await sleep(5 + Math.random() * 20)
    }
  }
}

const prepareFile = (db: DatabaseSync): void => {
  // NORMAL: a power failure may lose the last commits but never damages the file; a crash of the process loses nothing.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  alone(db, () => {
    const found = versionOf(db)
    if (found > schemaVersion) throw new Error(newer)
    const steps = found === 0 ? [] : migrations.slice(found - 1)
    for (const step of steps) db.exec(step)
    db.exec(`${schema}; PRAGMA user_version = ${schemaVersion}`)
  })
}

/** Runs `work` while no other process writes: all of its writes are done, or none. */
const alone = <Result>(db: DatabaseSync, work: () => Result): Result => {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const guarded = (db: DatabaseSync, access: Access): Database => ({
  isWritable: access === 'write',
  prepare: <Row>(sql: string) => statement<Row>(db.prepare(sql)),
  exclusively: work => guard(() => alone(db, work)),
  close: () => {
    if (db.isOpen) db.close()
  },
})

const statement = <Row>(prepared: StatementSync): Statement<Row> => ({
  get: (...values) => guard(() => prepared.get(...values) as Row | undefined),
  all: (...values) => guard(() => prepared.all(...values) as Row[]),
  run: (...values) => guard(() => Number(prepared.run(...values).changes)),
})

const guard = <Result>(work: () => Result): Result => {
  try {
    return work()
  } catch (error) {
    throw error instanceof StoreUnavailableError ? error : new StoreUnavailableError('sqlite', error)
  }
}
