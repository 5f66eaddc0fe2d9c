/**
 * How large the store gets: the size of each kind of record in a SQLite file and in a Redis, written by the adapters
 * themselves. Prints the table of the operations page, ends by itself and leaves nothing behind. Run it with
 * `npx node test/load/growth.ts [COUNT]`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../src/clock.ts'
import { openStore, parseStoreUrl } from '../../src/stores/open.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import { createRedisLimiter } from '../../src/stores/redis/limiter.ts'
import type { RedisUrl } from '../../src/stores/store-url.ts'
import { type RunningRedis, startRedis } from '../support/redis.ts'
import { toCount } from './count.ts'
import { counterKinds, type Kind, kinds } from './growth/kinds.ts'

/**
 * How many records of each kind: enough to fill the pages of a file, and the tables of Redis, which double in size,
 * as they are in the end.
 */
const defaultCount = 20_000

/** Written at once: a record, and a counter, which a Redis must answer for in 50 ms. */
const recordBatch = 200
const counterBatch = 20

const main = async (): Promise<void> => {
  const count = process.argv[2] === undefined ? defaultCount : toCount(process.argv[2])
  const teardowns: (() => unknown)[] = []
  try {
    const redis = await startRedis({ teardown: handler => teardowns.push(handler) })
    print(['Record', 'Lifetime', 'SQLite', 'Redis'])
    print(['---', '---', '---:', '---:'])
    for (const kind of kinds) {
      const bytes = [await measureSqlite(kind, count), await measureRedis(kind, count, redis)]
      print([kind.title, kind.kept, ...bytes.map(toBytes)])
    }
    for (const kind of counterKinds) {
      print([kind.title, kind.kept, '–', toBytes(await measureCounters(kind.charge, count, redis))])
    }
  } finally {
    for (const teardown of teardowns) await teardown()
  }
}

const writeMany = async (count: number, batch: number, write: () => Promise<unknown>): Promise<void> => {
  for (let left = count; left > 0; left -= batch)
    await Promise.all(Array.from({ length: Math.min(batch, left) }, write))
}

/** A file of its own for each kind, so that none is written into the room that another has left. */
const measureSqlite = async (kind: Kind, count: number): Promise<number> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-growth-'))
  const path = join(dir, 'sidegate.db')
  try {
    const store = await openStore({ kind: 'sqlite', path }, systemClock)
    const before = usedBytes(path)
    await writeMany(count, recordBatch, () => kind.write(store))
    await store.close()
    return (usedBytes(path) - before) / count
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Pages with something in them; the log beside the file is emptied into it again and again. */
const usedBytes = (path: string): number => {
  const db = new DatabaseSync(path)
  const read = (pragma: string): number => Number(Object.values({ ...db.prepare(`PRAGMA ${pragma}`).get() })[0])
  const bytes = (read('page_count') - read('freelist_count')) * read('page_size')
  db.close()
  return bytes
}

const measureRedis = async (kind: Kind, count: number, redis: RunningRedis): Promise<number> => {
  const store: Store = await openStore(urlOf(redis), systemClock)
  try {
    await kind.write(store) // the scripts are there from then on
    return await growthOf(redis, count, () => writeMany(count, recordBatch, () => kind.write(store)))
  } finally {
    await store.close()
  }
}

const measureCounters = async (
  charge: (typeof counterKinds)[number]['charge'],
  count: number,
  redis: RunningRedis,
): Promise<number> => {
  const limiter = await createRedisLimiter(urlOf(redis), {
    share: () => ({ index: 0, of: 1 }),
    onStateChange: up => {
      if (!up) throw new Error('the machine is too slow to measure: Redis did not answer in time')
    },
  })
  try {
    await charge(limiter)
    const few = Math.ceil(count / 10)
    return await growthOf(redis, few, () => writeMany(few, counterBatch, () => charge(limiter)))
  } finally {
    await limiter.close()
  }
}

/** Bytes of each, with its share of what Redis needs to find it. Nothing of it is left afterwards. */
const growthOf = async ({ client }: RunningRedis, count: number, write: () => Promise<void>): Promise<number> => {
  const before = await usedMemory(client)
  await write()
  const bytes = (await usedMemory(client)) - before
  await client.flushall()
  return bytes / count
}

/** Without what the connections take, which comes and goes. */
const usedMemory = async (client: RunningRedis['client']): Promise<number> => {
  const info = await client.info('memory')
  const read = (field: string): number => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1])
  return read('used_memory') - read('mem_clients_normal')
}

const urlOf = ({ url }: RunningRedis): RedisUrl => {
  const parsed = parseStoreUrl(url)
  if ('problem' in parsed || parsed.kind !== 'redis') throw new Error('not the address of a Redis')
  return parsed
}

const toBytes = (bytes: number): string => (bytes < 1 ? '0' : `${Math.round(bytes / 10) * 10}`)

const print = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`)

await main()
