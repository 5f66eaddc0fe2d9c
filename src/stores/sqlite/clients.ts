import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type ClientChange, type ClientRecord, type ClientStore, forgottenForMs } from '../ports/clients.ts'
import { createCleanup } from './cleanup.ts'
import type { Database } from './database.ts'

interface ClientRow {
  readonly place: number
  readonly client_id: string
  readonly members: string | null
  readonly disabled: number
  readonly until_ms: number | null
}

/** Rows read in one go, which takes about a millisecond. Other work runs between two pages. */
const pageRows = 1000

/**
 * A row without `until_ms` is a client. A row with it is a deleted client, kept for readers that have not read the
 * deletion yet.
 */
export const createClients = (db: Database, clock: Clock): ClientStore => {
  const select = db.prepare<ClientRow>('SELECT * FROM clients WHERE client_id = ? AND until_ms IS NULL')
  const selectForgotten = db.prepare('SELECT 1 FROM clients WHERE client_id = ? AND until_ms > ?')
  // REPLACE assigns a new place, and AUTOINCREMENT never assigns one twice, so each change is at the end for every
  // reader.
  const replace = db.prepare(
    'INSERT OR REPLACE INTO clients (client_id, members, disabled, until_ms) VALUES (?, ?, ?, ?)',
  )
  const page = db.prepare<ClientRow>(`SELECT * FROM clients WHERE place > ? ORDER BY place LIMIT ${pageRows}`)
  const cleanUp = createCleanup(db, clock, 'clients')

  const write = (client_id: string, record: ClientRecord | undefined): void => {
    const untilMs = record ? null : clock.nowMs() + forgottenForMs
    replace.run(client_id, record?.members ?? null, record?.disabled ? 1 : 0, untilMs)
    cleanUp()
  }
  return {
    find: async client_id => {
      const row = select.get(client_id)
      return row && { ...toRecord(row), version: String(row.place) }
    },
    put: async (client_id, record, known) =>
      db.exclusively(() => {
        const before = select.get(client_id)
        if ((before && String(before.place)) !== known) return false
        write(client_id, record)
        return true
      }),
    wasForgotten: async client_id => selectForgotten.get(client_id, clock.nowMs()) !== undefined,
    since: async (cursor, take) => {
      const isWhole = cursor === undefined
      let place = Number(cursor ?? 0)
      for (;;) {
        const rows = page.all(place)
        place = rows.at(-1)?.place ?? place
        if (isWhole || rows.length > 0) take(rows.map(toChange), isWhole)
        if (rows.length < pageRows) return String(place)
        await nextTurn()
      }
    },
  }
}

const toChange = (row: ClientRow): ClientChange => ({
  client_id: row.client_id,
  version: String(row.place),
  record: row.until_ms === null ? toRecord(row) : undefined,
})

const toRecord = ({ members, disabled }: ClientRow): ClientRecord => ({
  ...(members !== null && { members }),
  disabled: disabled === 1,
})
