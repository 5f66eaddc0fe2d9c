import type { Test } from 'tap'
import type { NewGrant, Redemption } from '../../../src/stores/ports/grants.ts'
import { grantRecord, newGrant, newId, redeemedGrant, redemptionOf, refreshOf } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testRefresh = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { grants } = store
  const refused = { kind: 'refused' }
  const valid = { kind: 'valid', record: grantRecord }
  const redeemed = (changes: Partial<Redemption> = {}): Promise<NewGrant> =>
    redeemedGrant(store, clock.nowMs(), changes)

  t.test('without a successor the token is kept', async t => {
    const grant = await redeemed()

    t.match(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
    t.match(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
  })
  t.test('after a rotation the old token yields the same successor in its window, then it is superseded', async t => {
    const grant = await redeemed()
    const nowMs = clock.nowMs()
    const rotation = refreshOf(grant, nowMs, { successorDigest: 'second' })

    t.match(await grants.refresh(rotation), valid)
    t.match(await grants.refresh({ ...rotation, nowMs: nowMs + 9_999 }), valid)
    t.same(await grants.refresh({ ...rotation, nowMs: nowMs + 10_000 }), {
      kind: 'superseded',
      generation: 1,
      currentDigest: 'second',
    })
    t.match(await grants.refresh({ ...rotation, digest: 'second', successorDigest: 'third' }), valid)
    t.same(await grants.refresh(rotation), { kind: 'superseded', generation: 2, currentDigest: 'third' })
  })
  t.test('without a reuse window the old token is superseded at once', async t => {
    const grant = await redeemed()
    const rotation = refreshOf(grant, clock.nowMs(), { successorDigest: 'second', reuseWindowMs: 0 })
    await grants.refresh(rotation)

    t.match(await grants.refresh(rotation), { kind: 'superseded' })
  })
  t.test('a token outside the chain is reported as superseded and changes nothing', async t => {
    const grant = await redeemed()
    const stranger = refreshOf(grant, clock.nowMs(), { digest: newId(), successorDigest: newId() })

    t.match(await grants.refresh(stranger), { kind: 'superseded', generation: 0 })
    t.match(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
  })
  t.test(
    'the number of rotations and the current token are returned without proof of the binding, but only to the client of the token',
    async t => {
      const grant = await redeemed({ binding: 'jkt one' })
      const find = (client_id = 'demo') => grants.findCurrentRefresh(grant.grantId, client_id)
      const current = refreshOf(grant, clock.nowMs()).digest
      t.same(await find(), { generation: 0, currentDigest: current })
      const bindings = ['jkt one']
      await grants.refresh(refreshOf(grant, clock.nowMs(), { successorDigest: 'second', bindings }))
      await grants.refresh(refreshOf(grant, clock.nowMs(), { digest: 'second', successorDigest: 'third', bindings }))

      t.same(await find(), { generation: 2, currentDigest: 'third' })
      t.equal(await find('demo2'), undefined)
      await store.revocations.revoke(grant.grantId, clock.nowMs() + 1000)
      t.equal(await find(), undefined, 'a revoked grant returns nothing')
      const without = newGrant(clock.nowMs())
      await grants.create(without)
      t.equal(
        await grants.findCurrentRefresh(without.grantId, 'demo'),
        undefined,
        'a grant without a refresh token returns nothing',
      )
      t.equal(await grants.findCurrentRefresh(newId(), 'demo'), undefined, 'an unknown grant returns nothing')
    },
  )
  t.test("another client's attempt is refused and changes nothing", async t => {
    const grant = await redeemed()
    const theft = refreshOf(grant, clock.nowMs(), { client_id: 'demo2', successorDigest: newId() })

    t.same(await grants.refresh(theft), refused)
    t.match(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
  })
  t.test('a grant redeemed without a refresh token, an unredeemed, an unknown and a revoked one refuse', async t => {
    const without = newGrant(clock.nowMs())
    const unredeemed = newGrant(clock.nowMs())
    await grants.create(without)
    await grants.create(unredeemed)
    const { refreshDigest: _, ...redemption } = redemptionOf(without, clock.nowMs())
    await grants.redeem(redemption)
    const revoked = await redeemed()
    await store.revocations.revoke(revoked.grantId, revoked.untilMs)

    for (const grant of [without, unredeemed, newGrant(clock.nowMs()), revoked]) {
      t.same(await grants.refresh(refreshOf(grant, clock.nowMs())), refused)
      t.equal(await store.tokens.findAny(grant.grantId, `first ${grant.grantId}`), undefined)
    }
  })
  t.test('the current token is found with the instants of its creation and its expiry', async t => {
    const nowMs = clock.nowMs()
    const grant = await redeemed({ nowMs: nowMs - 5, untilMs: nowMs + 100_000 })
    const first = await store.tokens.findAny(grant.grantId, `first ${grant.grantId}`)
    await grants.refresh(refreshOf(grant, nowMs, { successorDigest: 'second', untilMs: nowMs + 200_000 }))

    t.same(first, { kind: 'refresh', record: grantRecord, createdAtMs: nowMs - 5, untilMs: nowMs + 100_000 })
    t.same(await store.tokens.findAny(grant.grantId, 'second'), {
      kind: 'refresh',
      record: grantRecord,
      createdAtMs: nowMs,
      untilMs: nowMs + 200_000,
    })
    t.equal(await store.tokens.findAny(grant.grantId, `first ${grant.grantId}`), undefined)
  })
  t.test('a bound token is valid only for a request that proves its binding', async t => {
    const grant = await redeemed({ binding: 'jkt one' })
    const attempt = refreshOf(grant, clock.nowMs(), { successorDigest: 'second' })

    for (const bindings of [[], ['jkt two'], ['jkt'], ['jkt one ', '']])
      t.same(await grants.refresh({ ...attempt, bindings }), refused)
    t.match(await grants.refresh({ ...attempt, bindings: ['x5t two', 'jkt one'] }), valid)
  })
  t.test('the binding is kept by a rotation, in the reuse window and after it', async t => {
    const grant = await redeemed({ binding: 'jkt one' })
    const nowMs = clock.nowMs()
    const rotation = refreshOf(grant, nowMs, { successorDigest: 'second', bindings: ['jkt one'] })
    await grants.refresh(rotation)

    t.same(await grants.refresh({ ...rotation, bindings: ['jkt two'] }), refused)
    t.same(await grants.refresh({ ...rotation, nowMs: nowMs + 10_000, bindings: ['jkt two'] }), refused)
    t.same(await grants.refresh({ ...rotation, digest: 'second', bindings: ['jkt two'] }), refused)
    t.match(await grants.refresh(rotation), valid)
    t.match(await grants.refresh({ ...rotation, digest: 'second', successorDigest: 'third' }), valid)
  })
  t.test('an unbound token accepts any binding', async t => {
    const grant = await redeemed()

    t.match(await grants.refresh(refreshOf(grant, clock.nowMs(), { bindings: ['jkt one'] })), valid)
  })
  t.test(
    'a request for a part or all of the scope succeeds; a request for more is reported, and does not spend the token',
    async t => {
      const grant = await redeemed()
      const attempt = refreshOf(grant, clock.nowMs(), { successorDigest: 'second' })

      for (const scope of ['accounts:write', 'accounts', 'accounts:read2', 'Accounts:read'])
        t.same(await grants.refresh({ ...attempt, scopes: ['accounts:read', scope] }), { kind: 'exceeds', by: 'scope' })
      t.match(await grants.refresh({ ...attempt, scopes: ['offline_access', 'accounts:read'] }), valid)
      t.match(await grants.refresh({ ...attempt, digest: 'second', scopes: [] }), valid)
    },
  )
  t.test('in the reuse window too a request gets at most the granted scope', async t => {
    const grant = await redeemed()
    const rotation = refreshOf(grant, clock.nowMs(), { successorDigest: 'second' })
    await grants.refresh(rotation)

    t.same(await grants.refresh({ ...rotation, scopes: ['accounts:write'] }), { kind: 'exceeds', by: 'scope' })
    t.match(await grants.refresh({ ...rotation, scopes: ['accounts:read'] }), valid)
  })
  t.test('a client that may not use the token does not learn its scope or its resources', async t => {
    const grant = await redeemed({ binding: 'jkt one' })
    const attempt = refreshOf(grant, clock.nowMs(), { scopes: ['accounts:write'] })

    t.same(await grants.refresh(attempt), refused)
    t.same(await grants.refresh({ ...attempt, bindings: ['jkt one'], client_id: 'demo2' }), refused)
    t.match(await grants.refresh({ ...attempt, bindings: ['jkt one'], digest: newId() }), { kind: 'superseded' })
  })
  t.test('the outcome has the end of the grant: a new one with a rotation, the same one without', async t => {
    const nowMs = clock.nowMs()
    const grant = await redeemed({ untilMs: nowMs + 100_000 })
    const rotation = refreshOf(grant, nowMs, { successorDigest: 'second', untilMs: nowMs + 200_000 })

    t.match(await grants.refresh(refreshOf(grant, nowMs)), { kind: 'valid', untilMs: nowMs + 100_000 })
    t.match(await grants.refresh(rotation), { kind: 'valid', untilMs: nowMs + 200_000 })
    t.match(await grants.refresh({ ...rotation, untilMs: nowMs + 300_000 }), { untilMs: nowMs + 200_000 }, 'a retry')
  })
  t.test('a rotation prolongs the life of the grant, a refresh without one does not', async t => {
    const rotated = await redeemed({ untilMs: clock.nowMs() + shortMs })
    const kept = await redeemed({ untilMs: clock.nowMs() + shortMs })
    t.match(await grants.refresh(refreshOf(rotated, clock.nowMs(), { successorDigest: 'second' })), valid)
    t.match(await grants.refresh(refreshOf(kept, clock.nowMs())), valid)
    await elapse(shortMs)

    t.match(await grants.refresh(refreshOf(rotated, clock.nowMs(), { digest: 'second' })), valid)
    t.same(await grants.refresh(refreshOf(kept, clock.nowMs())), refused)
  })
}
