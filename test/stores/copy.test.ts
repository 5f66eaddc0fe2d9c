/** What an embedded store holds goes over into a Redis as it stands. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock.ts'
import { copyStore } from '../../src/stores/copy.ts'
import { openStore } from '../../src/stores/open.ts'
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
import { startRedis } from '../support/redis.ts'
import { toRedisUrl } from './redis/support/workers.ts'

const dir = mkdtempSync(join(tmpdir(), 'sidegate-copy-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))

t.test('every kind of record is there afterwards, as it was, and what had expired is not', async t => {
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
  const pushed = newPushedRequest()
  await from.pushed.create(ids.pushed, pushed, untilMs)
  await from.pushed.create(ids.ended, pushed, untilMs)
  await from.pushed.complete(ids.ended, 'first', untilMs)
  await from.clients.put('kept', { members: '{"client_name":"Kept"}', disabled: false }, undefined)
  await from.clients.put('of the file', { disabled: true }, undefined)
  await from.clients.put('forgotten', { disabled: true }, undefined)
  await from.clients.put('forgotten', undefined, (await from.clients.find('forgotten'))?.version)
  await from.close()
  const redis = await startRedis(t)
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
  t.same(await to.pushed.find(ids.pushed), pushed)
  t.equal(await to.pushed.complete(ids.ended, 'second', untilMs), false)
  t.match(await to.clients.find('kept'), { members: '{"client_name":"Kept"}', disabled: false })
  t.match(await to.clients.find('of the file'), { disabled: true })
  t.equal(await to.clients.find('forgotten'), undefined)
  const leftMs = await redis.client.pttl(`sidegate:{${bound.grantId}}:grant`)
  t.ok(leftMs > 0 && leftMs <= 600_000, `the lifetime that is left: ${leftMs} ms`)
})
