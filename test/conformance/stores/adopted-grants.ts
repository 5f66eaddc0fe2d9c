import type { Test } from 'tap'
import type { GrantState } from '../../../src/stores/ports/grant-state.ts'
import type { NewGrant } from '../../../src/stores/ports/grants.ts'
import { newGrantState } from '../../../src/stores/shared/grant-rules.ts'
import { eventually } from '../../support/eventually.ts'
import { grantRecord, newGrant, redeemedGrant, redemptionOf, refreshOf } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

/** Grants that are copied from another store, with their state there. */
export const testAdoptedGrants = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { grants } = store
  const refused = { kind: 'refused' }
  const valid = { kind: 'valid', record: grantRecord }
  const adopted = async (changes: Partial<GrantState> = {}): Promise<NewGrant> => {
    const grant = newGrant(clock.nowMs())
    await grants.adopt(grant.grantId, { ...newGrantState(grant), ...changes })
    return grant
  }
  /** Redeemed, and rotated twice just now. */
  const rotated = (): Partial<GrantState> => ({
    spent: true,
    refreshDigest: 'third',
    previousDigest: 'second',
    refreshedAtMs: clock.nowMs(),
    generation: 2,
  })

  t.test('an unused code is redeemed once; a used one is a replay', async t => {
    const waiting = await adopted()
    const spent = await adopted({ spent: true })

    t.match(await grants.redeem(redemptionOf(waiting, clock.nowMs())), { kind: 'redeemed', record: grantRecord })
    t.match(await grants.redeem(redemptionOf(waiting, clock.nowMs())), { kind: 'replayed' })
    t.match(await grants.redeem(redemptionOf(spent, clock.nowMs())), { kind: 'replayed' })
  })
  t.test('after two failed redemptions in the other store the third one spends the code', async t => {
    const grant = await adopted({ failures: 2 })

    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeProofs: [] })), refused)
    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs())), refused)
  })
  t.test(
    'the current refresh token is valid, the previous one is valid in its window, an older one is superseded',
    async t => {
      const grant = await adopted(rotated())
      const refresh = (digest: string) => grants.refresh(refreshOf(grant, clock.nowMs(), { digest }))

      t.match(await refresh('third'), valid)
      t.match(await refresh('second'), valid)
      t.same(await refresh('first'), { kind: 'superseded', generation: 2, currentDigest: 'third' })
      t.match(await store.tokens.findAny(grant.grantId, 'third'), { kind: 'refresh', record: grantRecord })
    },
  )
  t.test('a refresh token that is bound stays bound', async t => {
    const grant = await adopted({ ...rotated(), binding: 'key' })
    const attempt = refreshOf(grant, clock.nowMs(), { digest: 'third' })

    t.same(await grants.refresh(attempt), refused)
    t.match(await grants.refresh({ ...attempt, bindings: ['key'] }), valid)
  })
  t.test('a copied grant replaces a grant of the same id completely', async t => {
    const grant = await redeemedGrant(store, clock.nowMs(), { binding: 'key' })
    await grants.adopt(grant.grantId, newGrantState(grant))

    t.same(await grants.refresh(refreshOf(grant, clock.nowMs(), { bindings: ['key'] })), refused)
    t.match(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'redeemed' })
  })
  t.test('a copied grant expires at its original time', async t => {
    const grant = await adopted({ ...rotated(), untilMs: clock.nowMs() + shortMs })
    t.ok(await grants.findCurrentRefresh(grant.grantId, grantRecord.client_id))
    await elapse(shortMs)

    await eventually(async () => !(await grants.findCurrentRefresh(grant.grantId, grantRecord.client_id)))
  })
}
