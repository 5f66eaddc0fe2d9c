import type { ClientRecord, ClientStore } from '../ports/clients.ts'

/** A deleted client stays as an empty entry: everything in memory lives as long as the process. */
interface Entry {
  readonly place: number
  readonly record: ClientRecord | undefined
}

export const createClients = (): ClientStore => {
  const entries = new Map<string, Entry>()
  let last = 0
  return {
    find: async client_id => {
      const { place, record } = entries.get(client_id) ?? {}
      return record && { ...record, version: String(place) }
    },
    put: async (client_id, record, known) => {
      const before = entries.get(client_id)
      const version = before?.record && String(before.place)
      if (version !== known) return false
      last++
      entries.set(client_id, { place: last, record })
      return true
    },
    wasForgotten: async client_id => entries.get(client_id)?.record === undefined && entries.has(client_id),
    since: async (cursor, take) => {
      const seen = Number(cursor ?? 0)
      const changed = [...entries].filter(([, { place }]) => place > seen)
      const changes = changed.map(([client_id, { place, record }]) => ({ client_id, version: String(place), record }))
      if (cursor === undefined || changes.length > 0) take(changes, cursor === undefined)
      return String(last)
    },
  }
}
