import type { Clock } from '../../clock.ts'
import type { Store } from '../ports/store.ts'
import { type CutoffRow, toCutoff } from './cutoffs.ts'
import type { Database } from './database.ts'
import { type GrantRow, toState } from './grant-rows.ts'
import { type KeyRow, toRecord } from './keys.ts'
import type { Table } from './schema.ts'

/** How many records of each table went over. */
export type MovedCounts = Readonly<Record<Table, number>>

/** Records on their way at once. */
const pageRows = 200

/** A row as its table has it; `toStore` knows its shape. */
type Row = Readonly<Record<string, unknown>>

/**
 * Puts all that a file holds and that has not expired into another store, with the lifetimes it has left. The keys come
 * last: a move that was cut short begins anew, and what is there already is written again as it was.
 *
 * @throws Error where the other store has keys of its own: tokens of both could not be told apart
 * @throws StoreUnavailableError where it does not answer
 */
export const moveRecords = async (db: Database, to: Store, clock: Clock): Promise<MovedCounts> => {
  const keys = db
    .prepare<KeyRow & { readonly until_ms: number }>(
      'SELECT * FROM signing_keys WHERE until_ms > ? ORDER BY created_at_ms, kid',
    )
    .all(clock.nowMs())
  await requireNoOtherKeys(to, keys, clock)
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
    pushed_requests: await move('pushed_requests', ({ id, request, completed_by, until_ms }) =>
      request === null
        ? to.pushed.complete(String(id), String(completed_by), Number(until_ms))
        : to.pushed.create(String(id), JSON.parse(String(request)), Number(until_ms)),
    ),
    // That a client was forgotten, which has a lifetime, is for those who knew it.
    clients: await move('clients', ({ client_id, members, disabled, until_ms }) =>
      until_ms === null
        ? keepClient(to, String(client_id), {
            ...(members !== null && { members: String(members) }),
            disabled: disabled === 1,
          })
        : Promise.resolve(),
    ),
    signing_keys: await moveKeys(to, keys, clock),
  }
}

const moveTable = async (
  db: Database,
  clock: Clock,
  table: Table,
  toStore: (row: Row) => Promise<unknown>,
): Promise<number> => {
  const page = db.prepare<Row>(`
    SELECT rowid AS row_place, * FROM ${table} WHERE rowid > ? AND coalesce(until_ms > ?, 1)
    ORDER BY rowid LIMIT ${pageRows}`)
  let count = 0
  for (let after = 0; ; ) {
    const rows = page.all(after, clock.nowMs())
    await Promise.all(rows.map(toStore))
    count += rows.length
    if (rows.length < pageRows) return count
    after = Number(rows.at(-1)?.row_place)
  }
}

const keepClient = async (to: Store, client_id: string, record: Parameters<Store['clients']['put']>[1]) => {
  const known = await to.clients.find(client_id)
  await to.clients.put(client_id, record, known?.version)
}

const requireNoOtherKeys = async (to: Store, keys: readonly KeyRow[], clock: Clock): Promise<void> => {
  const there = await to.keys.load(clock.nowMs())
  if (there.every(({ kid }) => keys.some(key => key.kid === kid))) return
  throw new Error('the other store has keys of its own: copy before a gateway has used it, or into another ?prefix=')
}

/** Oldest first, each after the one of its algorithm that is there. */
const moveKeys = async (
  to: Store,
  keys: readonly (KeyRow & { readonly until_ms: number })[],
  clock: Clock,
): Promise<number> => {
  let there = await to.keys.load(clock.nowMs())
  for (const row of keys) {
    if (there.some(({ kid }) => kid === row.kid)) continue
    const newest = there.findLast(({ alg }) => alg === row.alg)
    there = await to.keys.create(toRecord(row), newest?.kid, row.until_ms)
  }
  return keys.length
}
