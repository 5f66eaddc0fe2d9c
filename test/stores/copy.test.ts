/** All data of an embedded store is copied into a Redis unchanged. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock.ts'
import { copyStore } from '../../src/stores/copy.ts'
import { openStore } from '../../src/stores/open.ts'
import type { Store } from '../../src/stores/ports/store.ts'
import { StoreUnavailableError } from '../../src/stores/ports/store-unavailable.ts'
import { openCopyTarget } from '../../src/stores/redis/copy-target.ts'
import { createReplicaCounter } from '../../src/stores/replica-counter.ts'
import { openDatabase } from '../../src/stores/sqlite/database.ts'
import { fingerprintOf, readKeys } from '../../src/stores/sqlite/export-records.ts'
import type { RedisUrl } from '../../src/stores/store-url.ts'
import {
  newGrant,
  newId,
  newInteraction,
  newKey,
  newPushedRequest,
  newToken,
  redeemedGrant,
  redemptionOf,
  refreshOf,
} from '../conformance/records.ts'
import { eventually } from '../support/eventually.ts'
import { startRedis } from '../support/redis.ts'
import { toRedisUrl } from './redis/support/workers.ts'

const dir = mkdtempSync(join(tmpdir(), 'sidegate-copy-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))
const redis = await startRedis(t)

t.test('every kind of record is copied unchanged, except for records that have expired', async t => {
  const path = join(dir, 'sidegate.db')
  const from = await openStore({ kind: 'sqlite', path }, systemClock)
  const nowMs = systemClock.nowMs()
  const untilMs = nowMs + 600_000
  const ids = { replay: newId(), interaction: newId(), pushed: newId(), ended: newId(), gone: newId() }
  const first = newKey('ES256', nowMs - 2)
  const keys = [first, newKey('HS256', nowMs - 1), { ...newKey('ES256', nowMs), activeAtMs: nowMs }]
  for (const key of keys)
    await from.keys.create(key, key.alg === 'ES256' && key !== first ? first.kid : undefined, untilMs)
  const waiting = newGrant(nowMs)
  await from.grants.create(waiting)
  const bound = await redeemedGrant(from, nowMs, { binding: 'key' })
  const token = newToken(bound.grantId)
  await from.tokens.save(bound.grantId, 'digest', token, untilMs)
  await from.revocations.revoke(`${waiting.grantId}.1`, untilMs)
  const cutoff = { sub: 'f3a1', throughSec: 100, untilMs }
  await from.cutoffs.add(cutoff)
  await from.interactions.create(ids.interaction, newInteraction(), untilMs)
  await from.replays.spend([
    { id: ids.replay, untilMs },
    { id: ids.gone, untilMs: nowMs },
  ])
  await from.subjects.remember('subject', untilMs)
  const pushed = newPushedRequest()
  await from.pushed.create(ids.pushed, pushed, untilMs)
  await from.pushed.create(ids.ended, pushed, untilMs)
  await from.pushed.complete(ids.ended, 'first', untilMs)
  await from.clients.put('kept', { members: '{"client_name":"Kept"}', disabled: false }, undefined)
  await from.clients.put('of the file', { disabled: true }, undefined)
  await from.clients.put('forgotten', { disabled: true }, undefined)
  await from.clients.put('forgotten', undefined, (await from.clients.find('forgotten'))?.version)
  await from.close()
  const url = toRedisUrl(redis.url)

  const counts = await copyStore(path, url, systemClock)

  t.match(counts, { grants: 2, replays: 1, pushed_requests: 2, signing_keys: 3 })
  const to = await openStore(url, systemClock)
  t.teardown(() => to.close())
  t.same(await to.keys.load(nowMs), keys)
  t.match(await to.grants.redeem(redemptionOf(waiting, nowMs)), { kind: 'redeemed' })
  t.match(await to.grants.refresh(refreshOf(bound, nowMs)), { kind: 'refused' })
  t.match(await to.grants.refresh(refreshOf(bound, nowMs, { bindings: ['key'] })), { kind: 'valid' })
  t.same(await to.tokens.find(bound.grantId, 'digest'), token)
  t.equal(await to.revocations.isRevoked(`${waiting.grantId}.1`), true)
  t.equal(await to.revocations.isRevoked(`${waiting.grantId}.2`), false)
  t.same((await to.cutoffs.since(undefined)).cutoffs, [cutoff])
  t.match(await to.interactions.find(ids.interaction), { record: { state: 'ä state', stage: 'login' } })
  t.same(await to.replays.spend([ids.replay, ids.gone].map(id => ({ id, untilMs }))), [false, true])
  t.same([await to.subjects.has('subject'), await to.subjects.has('other')], [true, false])
  t.same(await to.pushed.find(ids.pushed), pushed)
  t.equal(await to.pushed.complete(ids.ended, 'second', untilMs), false)
  t.match(await to.clients.find('kept'), { members: '{"client_name":"Kept"}', disabled: false })
  t.match(await to.clients.find('of the file'), { disabled: true })
  t.equal(await to.clients.find('forgotten'), undefined)
  const leftMs = await redis.client.pttl(`sidegate:{${bound.grantId}}:grant`)
  t.ok(leftMs > 0 && leftMs <= 600_000, `the lifetime that is left: ${leftMs} ms`)
  const keysLeftMs = await redis.client.pttl('sidegate:keys')
  t.ok(keysLeftMs > 0 && keysLeftMs <= 600_000, `that of the keys: ${keysLeftMs} ms`)
})

/** A prefix in the one Redis, for one test alone. */
const newTarget = (login = '') => {
  const prefix = `${newId()}:`
  const address = (as: string) => toRedisUrl(`redis://${as}127.0.0.1:${redis.port}?prefix=${prefix}`)
  return { prefix, url: address(''), urlAs: address(login) }
}

/** A file with a key, a grant and a client. A user of Redis that may not add to sorted sets cannot copy the client. */
const makeSource = async () => {
  const path = join(dir, `${newId()}.db`)
  const from = await openStore({ kind: 'sqlite', path }, systemClock)
  const key = newKey('HS256', systemClock.nowMs())
  await from.keys.create(key, undefined, systemClock.nowMs() + 600_000)
  await from.grants.create(newGrant(systemClock.nowMs()))
  await from.clients.put('app', { disabled: true }, undefined)
  await from.close()
  return { path, key, change: () => changeFile(path) }
}

const changeFile = async (path: string): Promise<void> => {
  const store = await openStore({ kind: 'sqlite', path }, systemClock)
  await store.clients.put('later', { disabled: true }, undefined)
  await store.close()
}

const openTarget = async (t: Test, url: RedisUrl): Promise<Store> => {
  const store = await openStore(url, systemClock)
  t.teardown(() => store.close())
  return store
}

t.test('the file stays as it was, byte for byte', async t => {
  const { path } = await makeSource()
  const before = readFileSync(path)

  await copyStore(path, newTarget().url, systemClock)

  t.ok(before.equals(readFileSync(path)))
  t.same([existsSync(`${path}-wal`), existsSync(`${path}-shm`)], [false, false])
})

t.test('no gateway can open the file while it is copied', async t => {
  const { path } = await makeSource()
  const db = await openDatabase(path, 'alone')
  const gateway = new DatabaseSync(path, { timeout: 0 })
  t.teardown(() => gateway.close())

  t.throws(() => gateway.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE'), { message: 'database is locked' })
  db.close()
  gateway.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
})

t.test('after an interrupted copy no gateway can use the Redis until the same file is copied again', async t => {
  await redis.client.acl('SETUSER', 'weak', 'on', '>weak', '~*', '+@all', '-zadd')
  const { path, key, change } = await makeSource()
  const { url, urlAs } = newTarget('weak:weak@')
  const store = await openTarget(t, url)
  const nowMs = systemClock.nowMs()

  await t.rejects(copyStore(path, urlAs, systemClock), StoreUnavailableError)

  await t.rejects(store.keys.load(nowMs), { message: /an earlier `sidegate store copy` did not finish/ })
  const own = newKey('ES256', nowMs)
  await t.rejects(store.keys.create(own, undefined, nowMs + 600_000), { message: /did not finish/ })
  const other = await makeSource()
  await t.rejects(copyStore(other.path, url, systemClock), { message: /a copy of something else has begun there/ })
  t.match(await copyStore(path, url, systemClock), { grants: 1, clients: 1, signing_keys: 1 })
  t.same(await store.keys.load(nowMs), [key])
  await change()
  await t.rejects(copyStore(path, url, systemClock), { message: /has keys of its own/ })
  t.equal(await store.clients.find('later'), undefined)
})

t.test('a file that has changed since its copy was interrupted counts as another file', async t => {
  await redis.client.acl('SETUSER', 'weak', 'on', '>weak', '~*', '+@all', '-zadd')
  const { path, change } = await makeSource()
  const { url, urlAs } = newTarget('weak:weak@')
  await t.rejects(copyStore(path, urlAs, systemClock), StoreUnavailableError)

  await change()

  await t.rejects(copyStore(path, url, systemClock), { message: /a copy of something else has begun there/ })
})

t.test('nothing is copied over existing data, or while a gateway uses the Redis', async t => {
  const { path } = await makeSource()
  const [served, operated] = [newTarget(), newTarget()]
  const store = await openTarget(t, operated.url)
  await store.clients.put('app', { disabled: false }, undefined)
  const pods = createReplicaCounter(served.url, 'pod')
  t.teardown(() => pods.close())
  await eventually(async () => (await redis.client.exists(`${served.prefix}pods`)) === 1)

  await t.rejects(copyStore(path, served.url, systemClock), { message: /a gateway uses the Redis/ })
  await t.rejects(copyStore(path, operated.url, systemClock), { message: /the Redis has records of its own/ })

  t.match(await store.clients.find('app'), { disabled: false })
})

t.test('a gateway that connects to the Redis during a copy makes the copy fail', async t => {
  const { path } = await makeSource()
  const { url, prefix } = newTarget()
  const db = await openDatabase(path, 'alone')
  t.teardown(() => db.close())
  const source = { fingerprint: fingerprintOf(db), ...readKeys(db, systemClock) }
  const target = await openCopyTarget(url, systemClock, source)
  t.teardown(() => target.close())
  await target.begin()

  const pods = createReplicaCounter(url, 'pod')
  t.teardown(() => pods.close())
  await eventually(async () => (await redis.client.exists(`${prefix}pods`)) === 1)

  await t.rejects(target.complete(), { message: /a gateway uses the Redis/ })
  pods.close()
  await redis.client.del(`${prefix}pods`, `${prefix}keys`)
  await t.rejects(target.complete(), { message: /lost copied records/ })
})
