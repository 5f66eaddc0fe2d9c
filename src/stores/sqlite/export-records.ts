import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { KeyRecord } from '../ports/keys.ts'
import type { Store } from '../ports/store.ts'
import type { Database } from './database.ts'
import { type GrantRow, toState } from './grant-rows.ts'
import { type KeyRow, toRecord } from './keys.ts'
import { type CutoffRow, toCutoff } from './not-before.ts'
import { type Table, tables } from './schema.ts'

/** How many records of each table were copied. */
export type MovedCounts = Readonly<Record<Table, number>>

/** Records in flight at once. */
const pageRows = 200

/** A row of a table; `toStore` knows its columns. */
type Row = Readonly<Record<string, unknown>>

/** The keys of a file that have not expired, oldest first, and when the last of them expires. */
export const readKeys = (
  db: Database,
  clock: Clock,
): { readonly keys: readonly KeyRecord[]; readonly untilMs: number } => {
  const rows = db
    .prepare<KeyRow & { readonly until_ms: number }>(
      'SELECT * FROM signing_keys WHERE until_ms > ? ORDER BY created_at_ms, kid',
    )
    .all(clock.nowMs())
  return { keys: rows.map(toRecord), untilMs: Math.max(0, ...rows.map(row => row.until_ms)) }
}

/**
 * Writes everything that a file holds apart from its keys, and that has not expired, into another store, with the
 * remaining lifetimes. After an interrupted copy it starts again: records that exist already are written again
 * unchanged.
 *
 * @throws StoreUnavailableError if the other store does not answer
 */
export const exportRecords = async (
  db: Database,
  to: Store,
  clock: Clock,
): Promise<Omit<MovedCounts, 'signing_keys'>> => {
  const move = (table: Table, toStore: (row: Row) => Promise<unknown>): Promise<number> =>
    moveTable(db, clock, table, toStore)
  return {
    grants: await move('grants', row => to.grants.adopt(String(row.grant_id), toState(row as unknown as GrantRow))),
    access_tokens: await move('access_tokens', ({ grant_id, digest, record, until_ms }) =>
      to.tokens.save(String(grant_id), String(digest), JSON.parse(String(record)), Number(until_ms)),
    ),
    revocations: await move('revocations', ({ id, until_ms }) => to.revocations.revoke(String(id), Number(until_ms))),
    cutoffs: await move('cutoffs', row => to.cutoffs.add(toCutoff(row as unknown as CutoffRow))),
    interactions: await move('interactions', ({ id, record, until_ms }) =>
      to.interactions.create(String(id), JSON.parse(String(record)), Number(until_ms)),
    ),
    replays: await move('replays', ({ id, until_ms }) =>
      to.replays.spend([{ id: String(id), untilMs: Number(until_ms) }]),
    ),
    subjects: await move('subjects', ({ digest, until_ms }) => to.subjects.remember(String(digest), Number(until_ms))),
    pushed_requests: await move('pushed_requests', ({ id, request, completed_by, until_ms }) =>
      request === null
        ? to.pushed.complete(String(id), String(completed_by), Number(until_ms))
        : to.pushed.create(String(id), JSON.parse(String(request)), Number(until_ms)),
    ),
    // Only readers that knew a deleted client need the record of its deletion, which has a lifetime.
    clients: await move('clients', ({ client_id, members, disabled, until_ms }) =>
      until_ms === null
        ? keepClient(to, String(client_id), {
            ...(members !== null && { members: String(members) }),
            disabled: disabled === 1,
          })
        : Promise.resolve(),
    ),
  }
}

const moveTable = async (
  db: Database,
  clock: Clock,
  table: Table,
  toStore: (row: Row) => Promise<unknown>,
): Promise<number> => {
  let count = 0
  for (const rows of pagesOf(db, table)) {
    const scope = rows.filter(({ until_ms }) => until_ms === null || Number(until_ms) > clock.nowMs())
    await Promise.all(scope.map(toStore))
    count += scope.length
  }
  return count
}

/** Identifies the content of a file: it differs from that of any other file and of this one before. */
export const fingerprintOf = (db: Database): string => {
  const hash = createHash('sha256')
  for (const table of tables) for (const rows of pagesOf(db, table)) hash.update(`${table} ${JSON.stringify(rows)}`)
  return hash.digest('base64url')
}

/** All rows, including expired ones. */
function* pagesOf(db: Database, table: Table): Generator<readonly Row[]> {
  const page = db.prepare<Row>(
    `SELECT rowid AS row_place, * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${pageRows}`,
  )
  for (let after = 0; ; ) {
    const rows = page.all(after)
    if (rows.length === 0) return
    yield rows
    after = Number(rows.at(-1)?.row_place)
  }
}

const keepClient = async (to: Store, client_id: string, record: Parameters<Store['clients']['put']>[1]) => {
  const known = await to.clients.find(client_id)
  await to.clients.put(client_id, record, known?.version)
}
