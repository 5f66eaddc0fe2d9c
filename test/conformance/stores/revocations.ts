import type { Test } from 'tap'
import { clockSpreadMs } from '../../../src/stores/ports/clock-spread.ts'
import type { GrantState } from '../../../src/stores/ports/grant-state.ts'
import type { RefreshAttempt } from '../../../src/stores/ports/grants.ts'
import type { TokenToStore } from '../../../src/stores/ports/token-draft.ts'
import { newGrantState } from '../../../src/stores/shared/grant-rules.ts'
import { eventually } from '../../support/eventually.ts'
import { newDraft, newGrant, newId, redemptionOf, refreshOf } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

export const testRevocations = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { revocations } = store
  const farMs = (): number => clock.nowMs() + 600_000
  const idsSince = async (cursor: string | undefined): Promise<readonly string[]> =>
    (await revocations.since(cursor)).revocations.map(({ id }) => id)

  t.test('a revoked jti revokes one token, a revoked grant all its tokens', async t => {
    const grantId = newId()
    t.equal(await revocations.isRevoked(`${grantId}.1`), false)
    await revocations.revoke(`${grantId}.1`, farMs())
    t.equal(await revocations.isRevoked(`${grantId}.1`), true)
    t.equal(await revocations.isRevoked(`${grantId}.2`), false)
    await revocations.revoke(grantId, farMs())
    t.equal(await revocations.isRevoked(`${grantId}.2`), true)
    t.equal(await revocations.isRevoked(grantId), true)
    t.equal(await revocations.isRevoked(newId()), false)
  })
  t.test('a reader with any cursor from before a revocation reads it in the feed', async t => {
    const before = [newId(), newId()]
    for (const id of before) await revocations.revoke(id, farMs())
    const { cursor } = await revocations.since(undefined)
    const after = [newId(), `${newId()}.7`]
    for (const id of after) await revocations.revoke(id, farMs())

    const all = await idsSince(undefined)
    const fresh = await idsSince(cursor)
    t.ok([...before, ...after].every(id => all.includes(id)))
    t.ok(after.every(id => fresh.includes(id)))
  })
  t.test('a reader that follows the feed with its cursor misses nothing while writers write', async t => {
    const ids = Array.from({ length: 60 }, newId)
    const seen = new Set<string>()
    let cursor: string | undefined
    const follow = async (): Promise<void> => {
      const page = await revocations.since(cursor)
      cursor = page.cursor
      for (const { id } of page.revocations) seen.add(id)
    }
    const writing = Promise.all(ids.map(id => revocations.revoke(id, farMs())))
    for (let i = 0; i < 10; i++) await follow()
    await writing
    await follow()

    t.ok(ids.every(id => seen.has(id)))
  })
  t.test('the feed has the end of a revocation; repeating the revocation never shortens it', async t => {
    const id = newId()
    const untilMs = farMs()
    await revocations.revoke(id, untilMs)
    await revocations.revoke(id, clock.nowMs() + 1)

    const entry = (await revocations.since(undefined)).revocations.find(revocation => revocation.id === id)
    t.ok(Math.abs((entry?.untilMs ?? 0) - untilMs) < 1000)
    await elapse(2)
    t.equal(await revocations.isRevoked(id), true)
  })
  t.test('a revoked grant does not come back when its revocation has expired', async t => {
    const grant = newGrant(clock.nowMs())
    await store.grants.create(grant)
    await store.grants.redeem(redemptionOf(grant, clock.nowMs()))
    await revocations.revoke(grant.grantId, clock.nowMs() + shortMs)
    await elapse(shortMs)
    await eventually(async () => !(await revocations.isRevoked(grant.grantId)))

    t.same(await store.grants.refresh(refreshOf(grant, clock.nowMs())), { kind: 'refused' })
  })
  t.test('a grant that is written after it was revoked is refused', async t => {
    const grant = newGrant(clock.nowMs())
    await revocations.revoke(grant.grantId, grant.untilMs)
    await store.grants.create(grant)

    t.same(await store.grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'refused' })
  })
  t.test('a revoked jti does not affect its grant', async t => {
    const grant = newGrant(clock.nowMs())
    await store.grants.create(grant)
    await store.grants.redeem(redemptionOf(grant, clock.nowMs()))
    await revocations.revoke(`${grant.grantId}.1`, farMs())

    t.match(await store.grants.refresh(refreshOf(grant, clock.nowMs())), { kind: 'valid' })
  })
  t.test('a grant stays revoked until its longest-lived access token can have expired', async t => {
    const token = (grantId: string, lifetimeSec: number, digest?: string): { readonly token: TokenToStore } => {
      const iat = Math.floor(clock.nowMs() / 1000)
      const draft = newDraft(grantId, clock.nowMs(), { iat, exp: iat + lifetimeSec })
      return { token: { draft, ...(digest !== undefined && { digest }) } }
    }
    /** The code is redeemed for a token of ten minutes; then each change is a refresh. */
    const issued = async (...refreshes: readonly ((grantId: string) => Partial<RefreshAttempt>)[]): Promise<string> => {
      const grant = newGrant(clock.nowMs())
      const { grantId } = grant
      await store.grants.create(grant)
      await store.grants.redeem(redemptionOf(grant, clock.nowMs(), token(grantId, 600)))
      for (const changes of refreshes) await store.grants.refresh(refreshOf(grant, clock.nowMs(), changes(grantId)))
      return grantId
    }
    const adopted = async (changes: Partial<GrantState>): Promise<string> => {
      const grant = newGrant(clock.nowMs())
      await store.grants.adopt(grant.grantId, { ...newGrantState(grant), ...changes })
      return grant.grantId
    }
    const isKeptFor = async (lifetimeMs: number, grantId: string, name: string): Promise<void> => {
      const fromMs = clock.nowMs()
      const keptUntilMs = await revocations.revoke(grantId, fromMs + 1000)
      const isRight = keptUntilMs >= fromMs + lifetimeMs && keptUntilMs <= clock.nowMs() + lifetimeMs
      t.ok(isRight, `${name}: ${keptUntilMs - fromMs}`)
      if (lifetimeMs === 1000) return
      const shown = (await revocations.since(undefined)).revocations.find(({ id }) => id === grantId)
      t.ok(Math.abs((shown?.untilMs ?? 0) - keptUntilMs) < 5000, `${name}: the feed has the same end`)
    }
    const sec = (lifetimeSec: number): number => lifetimeSec * 1000 + clockSpreadMs

    await isKeptFor(sec(600), await issued(), 'one token')
    await isKeptFor(sec(600), await issued(id => token(id, 5)), 'the lifetime was shortened')
    await isKeptFor(sec(900), await issued(id => token(id, 900)), 'the lifetime was prolonged')
    const rotation = (id: string) => ({ ...token(id, 900, newId()), successorDigest: 'second' })
    const next = (id: string) => ({ ...token(id, 5, newId()), digest: 'second', successorDigest: 'third' })
    await isKeptFor(sec(900), await issued(rotation, next), 'over rotations')
    await isKeptFor(1000, await adopted({}), 'no token was issued')
    await isKeptFor(1000, newId(), 'the grant is unknown')
    await isKeptFor(sec(700), await adopted({ spent: true, longestTokenSec: 700 }), 'it came from another store')
    await isKeptFor(sec(86_400), await adopted({ spent: true }), 'an older version kept it')
  })
  t.test('an expired revocation leaves the feed', async t => {
    const id = newId()
    await revocations.revoke(id, clock.nowMs() + shortMs)
    t.ok((await idsSince(undefined)).includes(id))
    await elapse(shortMs)

    await eventually(async () => !(await idsSince(undefined)).includes(id))
    t.equal(await revocations.isRevoked(id), false)
  })
}
