import type { Test } from 'tap'
import { grantRecord, newGrant, newId, redemptionOf } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testCodes = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { grants } = store
  const refused = { kind: 'refused' }

  t.test('a code is redeemed once; every later redemption is a replay', async t => {
    const grant = newGrant(clock.nowMs())
    await grants.create(grant)

    const redemption = redemptionOf(grant, clock.nowMs())
    const { untilMs } = redemption
    t.same(await grants.redeem(redemption), { kind: 'redeemed', record: grantRecord, untilMs })
    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'replayed', record: grantRecord })
  })
  t.test('a code without a grant, and a wrong code of a grant, are refused and change nothing', async t => {
    const grant = newGrant(clock.nowMs())
    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs())), refused)
    await grants.create(grant)
    for (let i = 0; i < 5; i++)
      t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeDigest: newId() })), refused)

    t.match(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'redeemed' })
  })
  t.test('a code is valid after two failed redemptions, and the third one spends it', async t => {
    const survivor = newGrant(clock.nowMs())
    const burnt = newGrant(clock.nowMs())
    for (const [grant, failures] of [[survivor, 2] as const, [burnt, 3] as const]) {
      await grants.create(grant)
      for (let i = 0; i < failures; i++)
        t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeProofs: [newId()] })), refused)
    }

    t.match(await grants.redeem(redemptionOf(survivor, clock.nowMs())), { kind: 'redeemed' })
    t.same(await grants.redeem(redemptionOf(burnt, clock.nowMs())), refused)
  })
  t.test('failed redemptions of a used code are not replays, and do not hide a later replay', async t => {
    const grant = newGrant(clock.nowMs())
    await grants.create(grant)
    await grants.redeem(redemptionOf(grant, clock.nowMs()))
    for (let i = 0; i < 4; i++)
      t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeProofs: [newId()] })), refused)

    t.match(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'replayed' })
  })
  t.test('a redemption without any verifier matches no code', async t => {
    const grant = newGrant(clock.nowMs())
    await grants.create(grant)

    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeProofs: [] })), refused)
  })
  t.test('an expired code is refused; a replay after that is still reported', async t => {
    const grant = newGrant(clock.nowMs())
    const late = newGrant(clock.nowMs())
    await grants.create(grant)
    await grants.create(late)
    await grants.redeem(redemptionOf(grant, clock.nowMs()))

    t.same(await grants.redeem(redemptionOf(late, late.codeExpiresAtMs)), refused)
    t.match(await grants.redeem(redemptionOf(late, late.codeExpiresAtMs - 1)), { kind: 'redeemed' })
    t.match(await grants.redeem(redemptionOf(grant, grant.codeExpiresAtMs + 1)), { kind: 'replayed' })
  })
  t.test('a revoked or removed grant refuses its code', async t => {
    const revoked = newGrant(clock.nowMs())
    const removed = newGrant(clock.nowMs())
    await grants.create(revoked)
    await grants.create(removed)
    await store.revocations.revoke(revoked.grantId, revoked.untilMs)
    await grants.remove(removed.grantId)
    await grants.remove(removed.grantId)

    t.same(await grants.redeem(redemptionOf(revoked, clock.nowMs())), refused)
    t.same(await grants.redeem(redemptionOf(removed, clock.nowMs())), refused)
  })
  t.test('an unredeemed grant expires at its end; a redeemed one lives as long as the redemption states', async t => {
    const forgotten = newGrant(clock.nowMs(), { untilMs: clock.nowMs() + shortMs })
    const kept = newGrant(clock.nowMs(), { untilMs: clock.nowMs() + shortMs })
    await grants.create(forgotten)
    await grants.create(kept)
    await grants.redeem(redemptionOf(kept, clock.nowMs()))
    await elapse(shortMs)

    t.same(await grants.redeem(redemptionOf(forgotten, clock.nowMs())), refused)
    t.match(await grants.redeem(redemptionOf(kept, clock.nowMs())), { kind: 'replayed' })
  })
}
