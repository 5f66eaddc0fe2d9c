import type { Test } from 'tap'
import { type ClientRecord, forgottenForMs } from '../../../src/stores/ports/clients.ts'
import type { Store } from '../../../src/stores/ports/store.ts'
import { newId } from '../records.ts'
import type { OpenStore } from './store-under-test.ts'

const record: ClientRecord = { members: '{"client_id":"shop","client_name":"Café \\u2028"}', disabled: false }

export const testClients = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, elapse } = await open(t)
  const { clients } = store

  t.test('a client is read as it was written, and has another version after each change', async t => {
    const id = newId()
    t.equal(await clients.find(id), undefined)

    t.equal(await clients.put(id, record, undefined), true)
    const first = await clients.find(id)
    t.match(first, record)
    t.equal(await clients.put(id, { ...record, disabled: true }, first?.version), true)
    const second = await clients.find(id)
    t.match(second, { ...record, disabled: true })
    t.not(second?.version, first?.version)
  })
  t.test('a record may disable a client that is defined outside the store', async t => {
    const id = newId()
    await clients.put(id, { disabled: true }, undefined)

    const { version, ...found } = (await clients.find(id)) ?? {}
    t.same(found, { disabled: true })
  })
  t.test('a writer that knows another version than the current one writes nothing', async t => {
    const id = newId()
    await clients.put(id, record, undefined)
    const { version } = (await clients.find(id)) ?? {}
    await clients.put(id, record, version)

    t.equal(
      await clients.put(id, { disabled: true }, undefined),
      false,
      'a creation of an existing client writes nothing',
    )
    t.equal(await clients.put(id, { disabled: true }, version), false, 'a write with an old version writes nothing')
    t.equal(await clients.put(id, undefined, version), false, 'a deletion with an old version changes nothing')
    t.equal(await clients.put(newId(), record, version), false, 'a version of a missing client writes nothing')
    t.match(await clients.find(id), record)
  })
  t.test('a deleted client is gone, and may be created again with a new version', async t => {
    const id = newId()
    await clients.put(id, record, undefined)
    const first = await clients.find(id)

    t.equal(await clients.put(id, undefined, first?.version), true)
    t.equal(await clients.find(id), undefined)
    t.equal(await clients.put(id, record, undefined), true)
    t.not((await clients.find(id))?.version, first?.version)
  })
  t.test('the deletion of an unknown client succeeds, and readers see it', async t => {
    const [never, gone, kept] = [newId(), newId(), newId()]
    for (const id of [gone, kept]) await clients.put(id, record, undefined)
    await clients.put(gone, undefined, (await clients.find(gone))?.version)
    const { cursor } = await readSince(store, undefined)

    for (const id of [never, gone]) t.equal(await clients.put(id, undefined, undefined), true)

    const { records } = await readSince(store, cursor)
    for (const id of [never, gone]) t.ok(records.has(id))
    t.same(await Promise.all([never, gone, kept, newId()].map(clients.wasForgotten)), [true, true, false, false])
    await clients.put(gone, record, undefined)
    t.equal(await clients.wasForgotten(gone), false)
  })
  t.test(
    'the first read returns everything; a read from its cursor returns the later changes and deletions',
    async t => {
      const [kept, changed, forgotten] = [newId(), newId(), newId()]
      for (const id of [kept, changed, forgotten]) await clients.put(id, record, undefined)
      const all = await readSince(store, undefined)
      for (const id of [kept, changed, forgotten]) t.match(all.records.get(id), record)
      t.equal(all.isWhole, true)

      await clients.put(changed, { ...record, disabled: true }, (await clients.find(changed))?.version)
      await clients.put(forgotten, undefined, (await clients.find(forgotten))?.version)
      const news = await readSince(store, all.cursor)

      t.equal(news.isWhole, false)
      t.match(news.records.get(changed), { disabled: true })
      t.ok(news.records.has(forgotten))
      t.equal(news.records.get(forgotten), undefined)
    },
  )
  t.test('a read without changes returns nothing', async t => {
    const { cursor } = await readSince(store, undefined)

    const news = await readSince(store, cursor)

    t.same(news, { records: new Map(), cursor, isWhole: false })
  })
  t.test('a reader that follows with its cursor misses nothing while writers write', async t => {
    const ids = Array.from({ length: 60 }, newId)
    const seen = new Set<string>()
    let { cursor } = await readSince(store, undefined)
    const follow = async (): Promise<void> => {
      const news = await readSince(store, cursor)
      cursor = news.cursor
      for (const id of news.records.keys()) seen.add(id)
    }
    const writing = Promise.all(ids.map(id => clients.put(id, record, undefined)))
    for (let i = 0; i < 10; i++) await follow()
    await writing
    await follow()

    t.ok(ids.every(id => seen.has(id)))
  })
  t.test('many clients are returned in parts, each client once', async t => {
    const ids = Array.from({ length: 1100 }, newId)
    await Promise.all(ids.map(id => clients.put(id, record, undefined)))
    const shown: string[] = []

    await clients.since(undefined, part => shown.push(...part.map(({ client_id }) => client_id)))

    t.ok(ids.every(id => shown.includes(id)))
    t.equal(shown.length, new Set(shown).size)
  })
  t.test('clients never expire', async t => {
    const id = newId()
    await clients.put(id, record, undefined)

    await elapse(2)

    t.match(await clients.find(id), record)
    t.ok((await readSince(store, undefined)).records.has(id))
    t.ok(forgottenForMs > 3_600_000, 'a reader that was away for an hour sees the deletions')
  })
}

const readSince = async ({ clients }: Store, cursor: string | undefined) => {
  const records = new Map<string, ClientRecord | undefined>()
  let isWhole = false
  const next = await clients.since(cursor, (part, isAll) => {
    isWhole = isAll
    for (const { client_id, record } of part) records.set(client_id, record)
  })
  return { records, cursor: next, isWhole }
}
