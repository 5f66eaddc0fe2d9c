/** A backup replaces the file of a store without loss of data that a gateway has written or an operator needs. */
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock.ts'
import { backUpFile } from '../../src/stores/sqlite/backup.ts'
import { acquireExclusiveLock } from '../../src/stores/sqlite/lock.ts'
import { openSqliteStore } from '../../src/stores/sqlite.ts'
import { restoreFile } from '../../src/stores/sqlite-restore.ts'
import { newKey } from '../conformance/records.ts'

const newFolder = (t: Test): string => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-restore-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A store's file with one key; resolves to the key's id. */
const makeStore = async (path: string): Promise<string> => {
  const store = await openSqliteStore(path, systemClock)
  const key = newKey('ES256', systemClock.nowMs())
  await store.keys.create(key, undefined, systemClock.nowMs() + 600_000)
  await store.close()
  return key.kid
}

const kidsIn = async (path: string): Promise<readonly string[]> => {
  const store = await openSqliteStore(path, systemClock, 'read')
  const keys = await store.keys.load(systemClock.nowMs())
  await store.close()
  return keys.map(({ kid }) => kid)
}

/** A folder with a store and a backup of another one. */
const makePair = async (t: Test) => {
  const dir = newFolder(t)
  const [path, backup] = [join(dir, 'sidegate.db'), join(dir, 'backup.db')]
  const old = await makeStore(path)
  const made = await makeStore(join(dir, 'other.db'))
  await backUpFile(join(dir, 'other.db'), backup)
  return { dir, path, backup, old, made }
}

t.test('each restore keeps the replaced file under a name of its own', async t => {
  const { path, backup, old, made } = await makePair(t)

  t.equal(await restoreFile(backup, path, systemClock), `${path}.replaced`)
  t.equal(await restoreFile(backup, path, systemClock), `${path}.replaced.2`)

  t.same(await kidsIn(path), [made])
  t.same(await kidsIn(`${path}.replaced`), [old])
  t.same(await kidsIn(`${path}.replaced.2`), [made])
})

t.test('the file keeps its owner and its group, or is not replaced', async t => {
  const { path, backup } = await makePair(t)
  // A user may give a file to one of their groups; only root may give it to another user.
  const owner = process.getuid?.() === 0 ? 65_532 : statSync(path).uid
  const group = process.getuid?.() === 0 ? 65_532 : (process.getgroups?.().at(-1) ?? statSync(path).gid)
  chownSync(path, owner, group)

  await restoreFile(backup, path, systemClock)

  const { uid, gid, mode } = statSync(path)
  t.same([uid, gid, mode & 0o777], [owner, group, 0o600])
})

const impostors = {
  'a file of another program with a table of this name': 'CREATE TABLE signing_keys (id TEXT)',
  'one that says that it is of this version': 'CREATE TABLE signing_keys (id TEXT); PRAGMA user_version = 2',
  'one whose table lacks a column':
    'CREATE TABLE signing_keys (kid, alg, created_at_ms, jwk, until_ms); PRAGMA user_version = 2',
} as const

for (const [name, sql] of Object.entries(impostors))
  t.test(`${name} is not restored, and the files are unchanged`, async t => {
    const { dir, path, old } = await makePair(t)
    const impostor = join(dir, 'impostor.db')
    const db = new DatabaseSync(impostor)
    db.exec(sql)
    db.close()
    const before = readdirSync(dir)

    await t.rejects(restoreFile(impostor, path, systemClock), Error)

    t.same(readdirSync(dir), before)
    t.same(await kidsIn(path), [old])
  })

t.test('a backup of an older version is upgraded before it replaces the file', async t => {
  const { dir, path } = await makePair(t)
  const backup = join(dir, 'first.db')
  const db = new DatabaseSync(backup)
  db.exec(`
    CREATE TABLE signing_keys (kid TEXT PRIMARY KEY, alg TEXT, created_at_ms INTEGER, jwk TEXT, until_ms INTEGER);
    CREATE TABLE grants (
      grant_id TEXT PRIMARY KEY, record TEXT, code_digest TEXT, code_proof TEXT, code_expires_at_ms INTEGER,
      spent INTEGER, failures INTEGER, refresh_digest TEXT, previous_digest TEXT, refreshed_at_ms INTEGER,
      generation INTEGER, until_ms INTEGER
    );
    PRAGMA user_version = 1`)
  db.prepare("INSERT INTO signing_keys VALUES ('old', 'ES256', 1, '{}', ?)").run(systemClock.nowMs() + 600_000)
  db.close()

  await t.rejects(kidsIn(backup), { message: /created by an older Sidegate/ })
  await restoreFile(backup, path, systemClock)

  t.same(await kidsIn(path), ['old'])
})

t.test('a process that waits for a file while it is replaced opens the new one', async t => {
  const { dir, path, made } = await makePair(t)
  const release = acquireExclusiveLock(path)
  const opening = openSqliteStore(path, systemClock)
  renameSync(join(dir, 'other.db'), path)
  release()

  const store = await opening
  t.teardown(() => store.close())

  t.match(await store.keys.load(systemClock.nowMs()), [{ kid: made }])
})

t.test('if several backups to one name run at once, one succeeds, and no partial file is left', async t => {
  const { dir, path, old } = await makePair(t)
  const to = join(dir, 'at-once.db')

  const made = await Promise.allSettled([1, 2, 3].map(() => backUpFile(path, to)))

  t.equal(made.filter(({ status }) => status === 'fulfilled').length, 1)
  t.same(await kidsIn(to), [old])
  t.same(
    readdirSync(dir).filter(name => name.includes('part')),
    [],
  )
})

t.test('opening a file only for reading neither changes nor creates a file', async t => {
  const { path, dir } = await makePair(t)
  const before = readFileSync(path)
  const empty = join(dir, 'empty.db')
  writeFileSync(empty, '')

  await kidsIn(path)
  await t.rejects(kidsIn(empty), { message: /the file is empty or is not a Sidegate store/ })
  await t.rejects(kidsIn(join(dir, 'none.db')), { message: /unable to open database file/ })

  t.ok(before.equals(readFileSync(path)))
  t.equal(readFileSync(empty).length, 0)
  t.notOk(existsSync(join(dir, 'none.db')))
})
