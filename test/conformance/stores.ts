import type { Test } from 'tap'
import type { Clock } from '../../src/clock.ts'
import type { RedemptionOutcome, RefreshOutcome, Store } from '../../src/stores/ports.ts'
import { eventually } from '../support/eventually.ts'
import { makeCall, type RacedCall, race } from './race.ts'
import { grantRecord, newGrant, newId, newInteraction, newKey, newToken, redemptionOf, refreshOf } from './records.ts'

/** What the suite needs of an adapter. */
export interface StoreUnderTest {
  readonly store: Store
  /** The clock that the store was opened with. */
  readonly clock: Clock
  /** Lets this many milliseconds pass, for the clock and for the store. */
  elapse(ms: number): Promise<void>
  /** The store's URL where other processes can open it too. */
  readonly shared?: string
}

/** Short enough to wait for, long enough for a slow machine to look before it ends. */
const shortMs = 400

/** Everything `stores/ports.ts` promises, for one adapter. */
export const testStore = (t: Test, open: (t: Test) => Promise<StoreUnderTest>): void => {
  t.test('keys', t => testKeys(t, open))
  t.test('codes', t => testCodes(t, open))
  t.test('refresh tokens', t => testRefresh(t, open))
  t.test('opaque tokens', t => testTokens(t, open))
  t.test('revocations', t => testRevocations(t, open))
  t.test('interactions', t => testInteractions(t, open))
  t.test('processes that race', t => testRaces(t, open))
}

type Open = (t: Test) => Promise<StoreUnderTest>

const testKeys = async (t: Test, open: Open): Promise<void> => {
  const { store, clock } = await open(t)
  const farMs = (): number => clock.nowMs() + 600_000

  t.same(await store.keys.load(farMs()), [], 'a new store has no keys')
  const older = newKey('ES256', 1000)
  const newer = newKey('RS256', 2000)
  t.same(await store.keys.createFirst(newer, farMs()), [newer])
  t.same(await store.keys.createFirst(older, farMs()), [older, newer], 'another algorithm is added, oldest first')
  t.same(await store.keys.createFirst(newKey('ES256', 500), farMs()), [older, newer], 'the same one is not')
  t.same(await store.keys.load(farMs()), [older, newer])

  await t.test('keys that are read stay, keys that are not read go', async t => {
    const { store, clock, elapse } = await open(t)
    const key = newKey('ES256', 1000)
    await store.keys.createFirst(key, clock.nowMs() + shortMs)
    await store.keys.load(clock.nowMs() + 2 * shortMs)
    await elapse(shortMs)

    t.same(await store.keys.load(clock.nowMs() + 1), [key])
    await elapse(shortMs)
    await eventually(async () => (await store.keys.load(clock.nowMs() + 1)).length === 0)
  })
}

const testCodes = async (t: Test, open: Open): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { grants } = store
  const refused = { kind: 'refused' }

  t.test('a code is redeemed once, then replayed', async t => {
    const grant = newGrant(clock.nowMs())
    await grants.create(grant)

    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'redeemed', record: grantRecord })
    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'replayed', record: grantRecord })
  })
  t.test('a code of no grant, and a wrong code of a grant, are refused and cost nothing', async t => {
    const grant = newGrant(clock.nowMs())
    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs())), refused)
    await grants.create(grant)
    for (let i = 0; i < 5; i++)
      t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeDigest: newId() })), refused)

    t.match(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'redeemed' })
  })
  t.test('two failed proofs leave a code alone, the third burns it', async t => {
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
  t.test('failed proofs on a spent code neither replay it nor hide a later replay', async t => {
    const grant = newGrant(clock.nowMs())
    await grants.create(grant)
    await grants.redeem(redemptionOf(grant, clock.nowMs()))
    for (let i = 0; i < 4; i++)
      t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeProofs: [newId()] })), refused)

    t.match(await grants.redeem(redemptionOf(grant, clock.nowMs())), { kind: 'replayed' })
  })
  t.test('no proof at all matches nothing', async t => {
    const grant = newGrant(clock.nowMs())
    await grants.create(grant)

    t.same(await grants.redeem(redemptionOf(grant, clock.nowMs(), { codeProofs: [] })), refused)
  })
  t.test('an expired code is refused; a replay after that is still told', async t => {
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
  t.test(
    'a grant that nobody redeems goes at its end; a redeemed one lives on as long as the redemption says',
    async t => {
      const forgotten = newGrant(clock.nowMs(), { untilMs: clock.nowMs() + shortMs })
      const kept = newGrant(clock.nowMs(), { untilMs: clock.nowMs() + shortMs })
      await grants.create(forgotten)
      await grants.create(kept)
      await grants.redeem(redemptionOf(kept, clock.nowMs()))
      await elapse(shortMs)

      t.same(await grants.redeem(redemptionOf(forgotten, clock.nowMs())), refused)
      t.match(await grants.redeem(redemptionOf(kept, clock.nowMs())), { kind: 'replayed' })
    },
  )
}

const testRefresh = async (t: Test, open: Open): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { grants } = store
  const refused = { kind: 'refused' }
  const valid = { kind: 'valid', record: grantRecord }
  const redeemed = async (changes: Parameters<typeof redemptionOf>[2] = {}): ReturnType<typeof redeemedGrant> =>
    redeemedGrant(store, clock, changes)

  t.test('without a successor the token is kept', async t => {
    const grant = await redeemed()

    t.same(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
    t.same(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
  })
  t.test('after a rotation the old token yields the same for a while, then is superseded', async t => {
    const grant = await redeemed()
    const nowMs = clock.nowMs()
    const rotation = refreshOf(grant, nowMs, { successorDigest: 'second' })

    t.same(await grants.refresh(rotation), valid)
    t.same(await grants.refresh({ ...rotation, nowMs: nowMs + 9_999 }), valid)
    t.same(await grants.refresh({ ...rotation, nowMs: nowMs + 10_000 }), {
      kind: 'superseded',
      generation: 1,
      currentDigest: 'second',
    })
    t.same(await grants.refresh({ ...rotation, digest: 'second', successorDigest: 'third' }), valid)
    t.same(await grants.refresh(rotation), { kind: 'superseded', generation: 2, currentDigest: 'third' })
  })
  t.test('with a window of nothing the old token is superseded at once', async t => {
    const grant = await redeemed()
    const rotation = refreshOf(grant, clock.nowMs(), { successorDigest: 'second', reuseWindowMs: 0 })
    await grants.refresh(rotation)

    t.match(await grants.refresh(rotation), { kind: 'superseded' })
  })
  t.test('a stranger to the chain is told as superseded and changes nothing', async t => {
    const grant = await redeemed()
    const stranger = refreshOf(grant, clock.nowMs(), { digest: newId(), successorDigest: newId() })

    t.match(await grants.refresh(stranger), { kind: 'superseded', generation: 0 })
    t.same(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
  })
  t.test("another client's attempt is refused and changes nothing", async t => {
    const grant = await redeemed()
    const theft = refreshOf(grant, clock.nowMs(), { client_id: 'demo2', successorDigest: newId() })

    t.same(await grants.refresh(theft), refused)
    t.same(await grants.refresh(refreshOf(grant, clock.nowMs())), valid)
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
      t.equal(await grants.findByRefresh(grant.grantId, `first ${grant.grantId}`), undefined)
    }
  })
  t.test('the current token is found with the instants it was made and goes', async t => {
    const nowMs = clock.nowMs()
    const grant = await redeemed({ nowMs: nowMs - 5, untilMs: nowMs + 100_000 })
    const first = await grants.findByRefresh(grant.grantId, `first ${grant.grantId}`)
    await grants.refresh(refreshOf(grant, nowMs, { successorDigest: 'second', untilMs: nowMs + 200_000 }))

    t.same(first, { record: grantRecord, createdAtMs: nowMs - 5, untilMs: nowMs + 100_000 })
    t.same(await grants.findByRefresh(grant.grantId, 'second'), {
      record: grantRecord,
      createdAtMs: nowMs,
      untilMs: nowMs + 200_000,
    })
    t.equal(await grants.findByRefresh(grant.grantId, `first ${grant.grantId}`), undefined)
  })
  t.test('a rotation prolongs the life of the grant, a refresh without one does not', async t => {
    const rotated = await redeemed({ untilMs: clock.nowMs() + shortMs })
    const kept = await redeemed({ untilMs: clock.nowMs() + shortMs })
    t.same(await grants.refresh(refreshOf(rotated, clock.nowMs(), { successorDigest: 'second' })), valid)
    t.same(await grants.refresh(refreshOf(kept, clock.nowMs())), valid)
    await elapse(shortMs)

    t.same(await grants.refresh(refreshOf(rotated, clock.nowMs(), { digest: 'second' })), valid)
    t.same(await grants.refresh(refreshOf(kept, clock.nowMs())), refused)
  })
}

const redeemedGrant = async (store: Store, clock: Clock, changes: Parameters<typeof redemptionOf>[2]) => {
  const grant = newGrant(clock.nowMs())
  await store.grants.create(grant)
  await store.grants.redeem(redemptionOf(grant, clock.nowMs(), changes))
  return grant
}

const testTokens = async (t: Test, open: Open): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { tokens } = store
  const farMs = clock.nowMs() + 600_000

  t.test('a saved token is found by its digest within its grant, until it is removed', async t => {
    const [grantId, digest] = [newId(), newId()]
    const record = newToken(grantId)
    await tokens.save(grantId, digest, record, farMs)

    t.same(await tokens.find(grantId, digest), record)
    t.equal(await tokens.find(grantId, newId()), undefined)
    t.equal(await tokens.find(newId(), digest), undefined)
    await tokens.remove(newId(), digest)
    t.same(await tokens.find(grantId, digest), record)
    await tokens.remove(grantId, digest)
    await tokens.remove(grantId, digest)
    t.equal(await tokens.find(grantId, digest), undefined)
  })
  t.test('a token is gone with its grant, and alone when its jti is revoked', async t => {
    const grantId = newId()
    const [one, two] = [newToken(grantId), newToken(grantId)]
    await tokens.save(grantId, one.jti, one, farMs)
    await tokens.save(grantId, two.jti, two, farMs)

    await store.revocations.revoke(one.jti, farMs)
    t.equal(await tokens.find(grantId, one.jti), undefined)
    t.same(await tokens.find(grantId, two.jti), two)
    await store.revocations.revoke(grantId, farMs)
    t.equal(await tokens.find(grantId, two.jti), undefined)
  })
  t.test('a token goes when its time has come', async t => {
    const [grantId, digest] = [newId(), newId()]
    await tokens.save(grantId, digest, newToken(grantId), clock.nowMs() + shortMs)
    t.ok(await tokens.find(grantId, digest))
    await elapse(shortMs)

    t.equal(await tokens.find(grantId, digest), undefined)
  })
}

const testRevocations = async (t: Test, open: Open): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { revocations } = store
  const farMs = (): number => clock.nowMs() + 600_000
  const idsSince = async (cursor: string | undefined): Promise<readonly string[]> =>
    (await revocations.since(cursor)).revocations.map(({ id }) => id)

  t.test('a revoked jti is revoked alone, a revoked grant with all its jtis', async t => {
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
  t.test('the feed shows each revocation to a reader with any cursor from before it', async t => {
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
  t.test('the feed says how long a revocation counts; repeating it never shortens that', async t => {
    const id = newId()
    const untilMs = farMs()
    await revocations.revoke(id, untilMs)
    await revocations.revoke(id, clock.nowMs() + 1)

    const entry = (await revocations.since(undefined)).revocations.find(revocation => revocation.id === id)
    t.ok(Math.abs((entry?.untilMs ?? 0) - untilMs) < 1000)
    await elapse(2)
    t.equal(await revocations.isRevoked(id), true)
  })
  t.test('what nobody needs any more leaves the feed', async t => {
    const id = newId()
    await revocations.revoke(id, clock.nowMs() + shortMs)
    t.ok((await idsSince(undefined)).includes(id))
    await elapse(shortMs)

    await eventually(async () => !(await idsSince(undefined)).includes(id))
    t.equal(await revocations.isRevoked(id), false)
  })
}

const testInteractions = async (t: Test, open: Open): Promise<void> => {
  const { store, clock, elapse } = await open(t)
  const { interactions } = store

  t.test('an interaction is replaced only by whoever saw its last version', async t => {
    const id = newId()
    const record = newInteraction()
    t.equal(await interactions.find(id), undefined)
    t.equal(await interactions.replace(id, 1, record), false)
    await interactions.create(id, record, clock.nowMs() + 600_000)
    const first = await interactions.find(id)
    const next = { ...record, stage: 'consent', sub: 'f3a1' } as const

    t.same(first?.record, record)
    t.equal(await interactions.replace(id, first?.version ?? 0, next), true)
    t.equal(await interactions.replace(id, first?.version ?? 0, record), false)
    const second = await interactions.find(id)
    t.same(second?.record, next)
    t.equal(await interactions.replace(id, second?.version ?? 0, record), true)
  })
  t.test('replacing does not prolong it', async t => {
    const id = newId()
    await interactions.create(id, newInteraction(), clock.nowMs() + shortMs)
    const found = await interactions.find(id)
    t.equal(await interactions.replace(id, found?.version ?? 0, newInteraction()), true)
    await elapse(shortMs)

    t.equal(await interactions.find(id), undefined)
    t.equal(await interactions.replace(id, (found?.version ?? 0) + 1, newInteraction()), false)
  })
}

/** Runs each process's calls in processes of their own, or, where a store lives in one process, all at once in it. */
const testRaces = async (t: Test, open: Open): Promise<void> => {
  const { store, clock, shared } = await open(t)
  const run = (lists: readonly (readonly RacedCall[])[]): Promise<readonly unknown[]> =>
    shared === undefined ? Promise.all(lists.flat().map(call => makeCall(store, call))) : race(t, shared, lists)
  const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
    Array.from({ length: count }, (_, index) => make(index))

  t.test('of 50 redemptions of one code one wins, and all others are replays', async t => {
    const grant = newGrant(clock.nowMs())
    await store.grants.create(grant)
    const call: RacedCall = { kind: 'redeem', redemption: redemptionOf(grant, clock.nowMs()) }

    const outcomes = (await run(times(5, () => times(10, () => call)))) as RedemptionOutcome[]

    t.equal(outcomes.filter(({ kind }) => kind === 'redeemed').length, 1)
    t.equal(outcomes.filter(({ kind }) => kind === 'replayed').length, 49)
  })
  t.test('20 refreshes at once rotate once, and all are valid', async t => {
    const grant = await redeemedGrant(store, clock, {})
    const attempt = refreshOf(grant, clock.nowMs(), { successorDigest: 'second' })

    const outcomes = (await run(times(4, () => times(5, () => ({ kind: 'refresh', attempt }))))) as RefreshOutcome[]

    t.ok(outcomes.every(({ kind }) => kind === 'valid'))
    t.same(await store.grants.refresh({ ...attempt, digest: newId() }), {
      kind: 'superseded',
      generation: 1,
      currentDigest: 'second',
    })
  })
  t.test('eight starts at once make one key', async t => {
    const untilMs = clock.nowMs() + 600_000
    const call = (createdAtMs: number): RacedCall => ({
      kind: 'createFirst',
      record: newKey('ES256', createdAtMs),
      untilMs,
    })

    const outcomes = await run(times(8, index => [call(index)]))

    const kept = await store.keys.load(untilMs)
    t.equal(kept.length, 1)
    for (const outcome of outcomes) t.same([outcome].flat(), kept)
  })
  t.test('of eight replacements of one version one is made', async t => {
    const id = newId()
    await store.interactions.create(id, newInteraction(), clock.nowMs() + 600_000)
    const version = (await store.interactions.find(id))?.version ?? 0
    const call = (): RacedCall => ({ kind: 'replace', id, version, record: newInteraction() })

    const outcomes = await run(times(4, () => [call(), call()]))

    t.equal(outcomes.filter(outcome => outcome === true).length, 1)
  })
}
