import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { StoreUnavailableError } from '../../src/stores/ports/store-unavailable.ts'
import { openSqliteStore } from '../../src/stores/sqlite.ts'
import { newGrant, newId, newKey, newToken, redemptionOf } from '../conformance/records.ts'
import { testStore } from '../conformance/stores.ts'
import { eventually } from '../support/eventually.ts'
import { createTestClock } from '../support/test-clock.ts'

const newFolder = (t: Test): string => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-sqlite-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A file of the first schema, with one key and one grant whose code is not redeemed yet. */
const makeFirstVersion = (dir: string) => {
  const path = join(dir, 'sidegate.db')
  const clock = createTestClock(Date.now())
  const grant = newGrant(clock.nowMs())
  const db = new DatabaseSync(path)
  db.exec(`
    CREATE TABLE signing_keys (
      kid TEXT PRIMARY KEY, alg TEXT NOT NULL, created_at_ms INTEGER NOT NULL, jwk TEXT NOT NULL,
      until_ms INTEGER NOT NULL
    );
    CREATE TABLE grants (
      grant_id TEXT PRIMARY KEY, record TEXT NOT NULL,
      code_digest TEXT NOT NULL, code_proof TEXT NOT NULL, code_expires_at_ms INTEGER NOT NULL,
      spent INTEGER NOT NULL, failures INTEGER NOT NULL,
      refresh_digest TEXT, previous_digest TEXT, refreshed_at_ms INTEGER NOT NULL, generation INTEGER NOT NULL,
      until_ms INTEGER NOT NULL
    );
    PRAGMA user_version = 1`)
  db.prepare("INSERT INTO signing_keys VALUES ('old', 'ES256', 1, '{}', ?)").run(grant.untilMs)
  db.prepare('INSERT INTO grants VALUES (?, ?, ?, ?, ?, 0, 0, NULL, NULL, 0, 0, ?)').run(
    grant.grantId,
    JSON.stringify(grant.record),
    grant.codeDigest,
    grant.codeProof,
    grant.codeExpiresAtMs,
    grant.untilMs,
  )
  db.close()
  return { path, clock, grant }
}

// Processes that race use the time of the machine, so the clock starts at that time.
const open = async (t: Test, path = join(newFolder(t), 'data/sidegate.db')) => {
  const clock = createTestClock(Date.now())
  const store = await openSqliteStore(path, clock)
  t.teardown(() => store.close())
  const elapse = async (ms: number) => clock.advance(ms)
  return { store, clock, elapse, shared: `sqlite:${path}`, path, holdWrites: () => holdWrites(path) }
}

/** Takes the lock of the file for writing, as another process does. Processes that only read do not wait for it. */
const holdWrites = (path: string): (() => void) => {
  const db = new DatabaseSync(path)
  db.exec('BEGIN IMMEDIATE')
  return () => db.close()
}

testStore(t, open)

t.test('the file and its folder are made for their owner alone', async t => {
  const { path } = await open(t)

  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
})

t.test('data that was written is there after the file is opened again', async t => {
  const first = await open(t)
  const grant = newGrant(first.clock.nowMs())
  const token = newToken(grant.grantId)
  await first.store.tokens.save(grant.grantId, 'digest', token, grant.untilMs)
  await first.store.close()

  const second = await open(t, first.path)

  t.same(await second.store.tokens.find(grant.grantId, 'digest'), token)
})

t.test('rows that have expired are removed from the file', async t => {
  const { store, clock, path } = await open(t)
  for (let i = 0; i < 500; i++) await store.tokens.save(newId(), newId(), newToken(newId()), clock.nowMs() + 1000)
  clock.advance(1000)

  for (let i = 0; i < 200; i++) await store.tokens.save(newId(), newId(), newToken(newId()), clock.nowMs() + 1000)

  const db = new DatabaseSync(path, { readOnly: true })
  t.same({ ...db.prepare('SELECT count(*) AS rows FROM access_tokens').get() }, { rows: 200 })
  db.close()
})

t.test('rows that have expired are removed without another write', async t => {
  const { store, clock, path } = await open(t)
  const untilMs = clock.nowMs() + 1000
  for (let i = 0; i < 5; i++) await store.tokens.save(newId(), newId(), newToken(newId()), untilMs)
  await store.keys.create(newKey('ES256', clock.nowMs()), undefined, untilMs)
  await store.tokens.save(newId(), newId(), newToken(newId()), untilMs + 1)
  const db = new DatabaseSync(path, { readOnly: true })
  t.teardown(() => db.close())
  const rowsIn = (table: string) => ({ ...db.prepare(`SELECT count(*) AS rows FROM ${table}`).get() }).rows

  clock.advance(1000)

  await eventually(() => rowsIn('access_tokens') === 1 && rowsIn('signing_keys') === 0)
})

t.test('a file of the first version keeps its data and takes new data', async t => {
  const { path, clock, grant } = makeFirstVersion(newFolder(t))
  const opened = await Promise.all([openSqliteStore(path, clock), openSqliteStore(path, clock)])
  t.teardown(() => Promise.all(opened.map(store => store.close())))
  const [store] = opened

  t.match(await store.keys.load(clock.nowMs() + 1000), [{ kid: 'old', alg: 'ES256', createdAtMs: 1 }])
  const redemption = redemptionOf(grant, clock.nowMs(), { binding: 'jkt one' })
  t.match(await store.grants.redeem(redemption), { kind: 'redeemed', record: grant.record })
  t.match(await store.tokens.findAny(grant.grantId, `first ${grant.grantId}`), { binding: 'jkt one' })
  t.same(await store.replays.spend([{ id: newId(), untilMs: clock.nowMs() + 1000 }]), [true])
})

t.test('the error for a file that cannot be opened is one clear line', async t => {
  const dir = newFolder(t)
  writeFileSync(join(dir, 'file'), 'this is no database, and long enough to be seen as none'.repeat(20))
  mkdirSync(join(dir, 'folder'))
  const rows = [
    ['file', /^the store sqlite:.*file cannot be opened: file is not a database$/],
    ['folder', /^the store sqlite:.*folder cannot be opened: EISDIR.*$/],
    ['file/under', /^the store sqlite:.*file\/under cannot be opened: .*$/],
    ['file/under/it', /^the store sqlite:.*file\/under\/it cannot be opened: ENOTDIR.*$/],
    // For a new folder in it the system answers as if this folder were missing itself.
    [
      '/proc/none/at/all',
      /^the store sqlite:\/proc\/none\/at\/all cannot be opened: cannot create a folder in \/proc$/,
    ],
  ] as const

  for (const [name, message] of rows)
    await t.rejects(openSqliteStore(resolve(dir, name), createTestClock()), { message })
})

t.test('a file of a newer Sidegate is not changed', async t => {
  const { path, store } = await open(t)
  await store.close()
  const db = new DatabaseSync(path)
  db.exec('PRAGMA user_version = 99')
  db.close()

  await t.rejects(openSqliteStore(path, createTestClock()), { message: /newer Sidegate/ })
})

t.test('while another process has the file locked, writes fail as unavailable and reads succeed', async t => {
  const { store, clock, path } = await open(t)
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')

  await t.rejects(store.grants.create(newGrant(clock.nowMs())), StoreUnavailableError)
  t.same(await store.tokens.find(newId(), newId()), undefined)
  other.exec('ROLLBACK')
  await store.grants.create(newGrant(clock.nowMs()))
})

t.test('on a full disk writes fail, acknowledged data is kept, and later writes succeed with room again', async t => {
  const { store, clock, path } = await open(t)

  // A limit of the file size simulates the disk. Because of the trap, reaching it is an error, not a signal.
  const limited = `trap '' XFSZ; ulimit -f 2000; exec "${process.execPath}" "$0" "$1"`
  const filler = join(import.meta.dirname, '../conformance/fill-disk.ts')
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, filler, path])
  const { acknowledged, found, error } = JSON.parse(stdout)

  t.equal(error, 'StoreUnavailableError')
  t.ok(acknowledged > 50)
  t.equal(found, acknowledged)
  for (let i = 0; i < acknowledged; i++) t.ok(await store.tokens.find('grant', `digest ${i}`))
  await store.tokens.save('grant', 'more', newToken('grant'), clock.nowMs() + 1000)
})
