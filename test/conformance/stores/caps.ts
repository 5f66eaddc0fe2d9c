import type { Test } from 'tap'
import type { Store } from '../../../src/stores/ports/store.ts'
import { newId, newInteraction, newPushedRequest } from '../records.ts'
import { type OpenStore, shortMs } from './store-under-test.ts'

/** How both stores limit the records that unauthenticated clients create. */
interface Kind {
  create(store: Store, id: string, untilMs: number, limit?: number): Promise<number>
  isThere(store: Store, id: string): Promise<boolean>
  /** Makes the record one of an authenticated user or client. */
  prove(store: Store, id: string, untilMs: number): Promise<unknown>
}

const kinds: Readonly<Record<string, Kind>> = {
  interactions: {
    create: ({ interactions }, id, untilMs, limit) => interactions.create(id, newInteraction(), untilMs, limit),
    isThere: async ({ interactions }, id) => (await interactions.find(id)) !== undefined,
    prove: ({ interactions }, id) =>
      interactions.replace(id, 1, { ...newInteraction(), stage: 'consent', sub: 'f3a1' }),
  },
  'pushed requests': {
    create: ({ pushed }, id, untilMs, limit) =>
      pushed.create(id, { ...newPushedRequest(), isUnproven: true }, untilMs, limit),
    isThere: async ({ pushed }, id) => (await pushed.find(id)) !== undefined,
    prove: ({ pushed }, id, untilMs) => pushed.complete(id, newId(), untilMs),
  },
}

export const testCaps = async (t: Test, open: OpenStore): Promise<void> => {
  for (const [name, kind] of Object.entries(kinds)) {
    t.test(`${name} of unauthenticated clients beyond the limit are removed, the oldest first`, t =>
      testOrder(t, open, kind),
    )
    t.test(`${name} of authenticated users are neither counted nor removed`, t => testProven(t, open, kind))
    t.test(`${name} that have expired are not counted`, t => testExpired(t, open, kind))
    t.test(`a large number of ${name} stays within the limit`, t => testMany(t, open, kind))
  }
  t.test('pushed requests of confidential clients are not counted', async t => {
    const { store, clock } = await open(t)
    const untilMs = clock.nowMs() + 600_000
    const ids = [newId(), newId(), newId()]

    for (const id of ids) t.equal(await store.pushed.create(id, newPushedRequest(), untilMs, 1), 0)
    for (const id of ids) t.ok(await store.pushed.find(id))
  })
}

/** Another test may have left records in the same store. */
const openEmpty = async (t: Test, open: OpenStore, { create, prove }: Kind) => {
  const opened = await open(t)
  const [id, untilMs] = [newId(), opened.clock.nowMs() + 3_600_000]
  await create(opened.store, id, untilMs, 1)
  await prove(opened.store, id, untilMs)
  return opened
}

const testOrder = async (t: Test, open: OpenStore, kind: Kind): Promise<void> => {
  const { create, isThere } = kind
  const { store, clock } = await openEmpty(t, open, kind)
  const untilMs = clock.nowMs() + 600_000
  const ids = Array.from({ length: 6 }, newId)

  const removed: number[] = []
  for (const [nth, id] of ids.entries()) removed.push(await create(store, id, untilMs + nth, 3))

  t.same(removed, [0, 0, 0, 1, 1, 1])
  t.same(await Promise.all(ids.map(id => isThere(store, id))), [false, false, false, true, true, true])
  t.equal(await create(store, newId(), untilMs + 9), 0, 'without a limit no record is removed')
}

const testProven = async (t: Test, open: OpenStore, kind: Kind): Promise<void> => {
  const { create, isThere, prove } = kind
  const { store, clock } = await openEmpty(t, open, kind)
  const untilMs = clock.nowMs() + 600_000
  const [signedIn, ...others] = Array.from({ length: 4 }, newId) as [string, ...string[]]
  await create(store, signedIn, untilMs, 2)
  const wasThere = await isThere(store, signedIn)
  await prove(store, signedIn, untilMs)
  const isKept = await isThere(store, signedIn)

  const removed: number[] = []
  for (const [nth, id] of others.entries()) removed.push(await create(store, id, untilMs + nth, 2))

  t.equal(wasThere, true)
  t.same(removed, [0, 0, 1])
  t.equal(await isThere(store, signedIn), isKept)
  t.same(await Promise.all(others.map(id => isThere(store, id))), [false, true, true])
}

const testExpired = async (t: Test, open: OpenStore, kind: Kind): Promise<void> => {
  const { create } = kind
  const { store, clock, elapse } = await openEmpty(t, open, kind)
  for (let nth = 0; nth < 2; nth++) await create(store, newId(), clock.nowMs() + shortMs, 2)
  await elapse(2 * shortMs)

  const untilMs = clock.nowMs() + 600_000
  t.equal(await create(store, newId(), untilMs, 2), 0)
  t.equal(await create(store, newId(), untilMs + 1, 2), 0)
  t.equal(await create(store, newId(), untilMs + 2, 2), 1)
}

/** One write may remove more than a hundredth of the limit, and at most the limit is left. */
const testMany = async (t: Test, open: OpenStore, kind: Kind): Promise<void> => {
  const { create, isThere } = kind
  const { store, clock } = await openEmpty(t, open, kind)
  const untilMs = clock.nowMs() + 600_000
  const ids = Array.from({ length: 450 }, newId)

  let removed = 0
  for (const [nth, id] of ids.entries()) removed += await create(store, id, untilMs + nth, 200)

  const there = await Promise.all(ids.map(id => isThere(store, id)))
  t.equal(there.filter(Boolean).length, ids.length - removed)
  t.ok(removed >= 250 && removed <= 254, `${removed} of 450 were removed`)
  t.equal(there.lastIndexOf(false), removed - 1, 'the oldest')
}
