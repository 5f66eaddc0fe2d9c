import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnavailableError } from '../ports/store-unavailable.ts'
import { migrations, schema, schemaVersion } from './schema.ts'

/**
 * How long a write waits for another process's, in milliseconds. The wait blocks the event loop, so it must end soon;
 * a write takes tens of microseconds, so this is thousands of them.
 */
const busyTimeoutMs = 1000

/** How long opening goes on while other processes are opening the same file, in milliseconds. */
const openPatienceMs = 10_000

/** Whether another connection has the file, and so it could not be had. */
export const isBusy = (error: unknown): boolean => /locked|busy/i.test(String(error))

/** One connection to the file, for one process. Everything it throws is a StoreUnavailableError. */
export interface Database {
  prepare<Row>(sql: string): Statement<Row>
  /** Runs `work` alone among all processes: all of its writes happen, or none. */
  exclusively<Result>(work: () => Result): Result
  close(): void
}

/** A prepared statement. `Row` is the shape its SQL selects; the schema vouches for it. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  /** Returns the number of rows that changed. */
  run(...values: SQLInputValue[]): number
}

/**
 * Opens the file, or makes it (mode 0600, its folder 0700): it holds the signing keys.
 *
 * @throws Error one line saying why not: no permission, no database, made by a newer Sidegate
 */
export const openDatabase = async (path: string): Promise<Database> => {
  try {
    return guarded(await openFile(path))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the store sqlite:${path} cannot be opened: ${reason}`, { cause: error })
  }
}

const openFile = async (path: string): Promise<DatabaseSync> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  try {
    await patiently(() => prepareFile(db))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Many workers open the file at once, and switching a new file to WAL does not wait for its lock as writes do. */
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
  // NORMAL: a power cut may lose the last commits but never damages the file; a crash of the process loses nothing.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  alone(db, () => {
    const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number }
    if (found > schemaVersion) throw new Error('it was made by a newer Sidegate')
    const steps = found === 0 ? [] : migrations.slice(found - 1)
    for (const step of steps) db.exec(step)
    db.exec(`${schema}; PRAGMA user_version = ${schemaVersion}`)
  })
}

/** Runs `work` while no other process writes: all of its writes happen, or none. */
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

const guarded = (db: DatabaseSync): Database => ({
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
