import type { Test } from 'tap'
import type { RedemptionOutcome, RefreshOutcome } from '../../../src/stores/ports/grants.ts'
import { makeCall, type Race, type RacedCall, startRacers } from '../race.ts'
import {
  newGrant,
  newId,
  newInteraction,
  newKey,
  newPushedRequest,
  redeemedGrant,
  redemptionOf,
  refreshOf,
} from '../records.ts'
import type { OpenStore } from './store-under-test.ts'

/** The most processes that race at once. */
const processes = 8

/** How many codes, or rotations of one grant, four processes race for. */
const codesOfRace = 50

/** The number of runs of a race whose processes meet only in their first call. */
const repeatedRaces = 3

/** Runs each list of calls in a separate process, or all at once in one process if the store lives in one process. */
export const testRaces = async (t: Test, open: OpenStore): Promise<void> => {
  const { store, clock, shared, holdWrites } = await open(t)
  const runHere: Race = lists => Promise.all(lists.flat().map(call => makeCall(store, call)))
  const run = shared === undefined ? runHere : await startRacers(t, shared, processes, holdWrites)
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
  t.test('when four processes redeem many codes, each code has one winner, every time', async t => {
    for (let round = 0; round < repeatedRaces; round++) {
      const grants = times(codesOfRace, () => newGrant(clock.nowMs()))
      await Promise.all(grants.map(grant => store.grants.create(grant)))
      const calls = grants.map(grant => ({ kind: 'redeem', redemption: redemptionOf(grant, clock.nowMs()) }) as const)

      const outcomes = (await run(times(4, () => calls))) as RedemptionOutcome[]

      const winnersOf = (_: unknown, code: number) =>
        outcomes.filter(({ kind }, index) => kind === 'redeemed' && index % codesOfRace === code).length
      t.same(grants.map(winnersOf), Array(codesOfRace).fill(1))
      t.equal(outcomes.filter(({ kind }) => kind === 'replayed').length, 3 * codesOfRace)
    }
  })
  t.test('a refresh never undoes the rotation of another process', async t => {
    for (let round = 0; round < repeatedRaces; round++) {
      const grant = await redeemedGrant(store, clock.nowMs())
      const chain = times(codesOfRace, place =>
        refreshOf(grant, clock.nowMs(), {
          ...(place > 0 && { digest: `token ${place}` }),
          successorDigest: `token ${place + 1}`,
        }),
      )

      const calls = chain.map(attempt => ({ kind: 'refresh', attempt }) as const)
      const outcomes = (await run(times(4, () => calls))) as RefreshOutcome[]

      // A process that is behind finds a later generation; an earlier one shows that a rotation was overwritten.
      const overwritten = outcomes.filter(
        (outcome, index) => outcome.kind === 'superseded' && outcome.generation < index % codesOfRace,
      )
      t.same(overwritten, [])

      t.same(await store.grants.findCurrentRefresh(grant.grantId, grant.record.client_id), {
        generation: codesOfRace,
        currentDigest: `token ${codesOfRace}`,
      })
    }
  })
  t.test('when four processes refresh one token without a reuse window, one refresh is valid, every time', async t => {
    for (let round = 0; round < repeatedRaces; round++) {
      const grant = await redeemedGrant(store, clock.nowMs())
      const attempts = times(4, n => refreshOf(grant, clock.nowMs(), { successorDigest: `by ${n}`, reuseWindowMs: 0 }))

      const outcomes = (await run(attempts.map(attempt => [{ kind: 'refresh', attempt }]))) as RefreshOutcome[]

      const winner = outcomes.findIndex(({ kind }) => kind === 'valid')
      const superseded = { kind: 'superseded', generation: 1, currentDigest: `by ${winner}` }
      t.same(
        outcomes.filter((_, index) => index !== winner),
        Array(3).fill(superseded),
      )
      t.same(await store.grants.findCurrentRefresh(grant.grantId, grant.record.client_id), {
        generation: 1,
        currentDigest: `by ${winner}`,
      })
    }
  })
  t.test('when processes redeem one code and refresh its token, one process does each, every time', async t => {
    for (let round = 0; round < repeatedRaces; round++) {
      const grant = newGrant(clock.nowMs())
      await store.grants.create(grant)
      const redemption = redemptionOf(grant, clock.nowMs())
      const attempt = refreshOf(grant, clock.nowMs(), { successorDigest: 'second', reuseWindowMs: 0 })

      const outcomes = (await run(
        times(4, () => [
          { kind: 'redeem', redemption },
          { kind: 'refresh', attempt },
        ]),
      )) as (RedemptionOutcome | RefreshOutcome)[]

      const count = (wanted: string) => outcomes.filter(({ kind }) => kind === wanted).length
      t.same(['redeemed', 'replayed', 'valid', 'superseded'].map(count), [1, 3, 1, 3])
      t.same(await store.grants.findCurrentRefresh(grant.grantId, grant.record.client_id), {
        generation: 1,
        currentDigest: 'second',
      })
    }
  })
  t.test('20 refreshes at once rotate once, and all are valid', async t => {
    const grant = await redeemedGrant(store, clock.nowMs())
    const attempt = refreshOf(grant, clock.nowMs(), { successorDigest: 'second' })

    const outcomes = (await run(times(4, () => times(5, () => ({ kind: 'refresh', attempt }))))) as RefreshOutcome[]

    t.ok(outcomes.every(({ kind }) => kind === 'valid'))
    t.same(await store.grants.refresh({ ...attempt, digest: newId() }), {
      kind: 'superseded',
      generation: 1,
      currentDigest: 'second',
    })
  })
  t.test('eight simultaneous starts create one key', async t => {
    const untilMs = clock.nowMs() + 600_000
    const call = (createdAtMs: number): RacedCall => ({
      kind: 'createKey',
      record: newKey('ES256', createdAtMs),
      untilMs,
    })

    const outcomes = await run(times(8, index => [call(index)]))

    const kept = await store.keys.load(untilMs)
    t.equal(kept.length, 1)
    for (const outcome of outcomes) t.same([outcome].flat(), kept)
  })
  t.test('of eight simultaneous rotations one is stored, and all processes read it', async t => {
    const untilMs = clock.nowMs() + 600_000
    const first = newKey('PS256', 1000)
    await store.keys.create(first, undefined, untilMs)
    const call = (): RacedCall => ({ kind: 'createKey', record: newKey('PS256', 2000), after: first.kid, untilMs })

    const outcomes = await run(times(4, () => [call(), call()]))

    const kept = await store.keys.load(untilMs)
    t.equal(kept.filter(({ alg }) => alg === 'PS256').length, 2)
    for (const outcome of outcomes) t.same(outcome, kept)
  })
  t.test('an id that is used 20 times at once is accepted once', async t => {
    const call: RacedCall = { kind: 'spend', id: newId(), untilMs: clock.nowMs() + 600_000 }

    const outcomes = await run(times(4, () => times(5, () => call)))

    t.equal(outcomes.filter(isNew => isNew === true).length, 1)
    t.equal(outcomes.filter(isNew => isNew === false).length, 19)
  })
  t.test(
    'of many interactions that complete one pushed request at once one succeeds, however often it tries',
    async t => {
      const [id, untilMs] = [newId(), clock.nowMs() + 600_000]
      await store.pushed.create(id, newPushedRequest(), untilMs)
      const interactionIds = times(4, () => newId())

      const outcomes = await run(
        interactionIds.map(interactionId => times(5, () => ({ kind: 'complete', id, interactionId, untilMs }))),
      )

      const allowed = interactionIds.map((_, index) => outcomes.slice(5 * index, 5 * index + 5))
      t.equal(allowed.filter(answers => answers.every(answer => answer === true)).length, 1)
      t.equal(allowed.filter(answers => answers.every(answer => answer === false)).length, 3)
    },
  )
  t.test('when eight clients of one id are created at once, one is stored', async t => {
    const id = newId()
    const recordOf = (index: number) => ({ members: `{"client_name":"${index}"}`, disabled: false })

    const outcomes = await run(times(4, n => times(2, m => ({ kind: 'putClient', id, record: recordOf(2 * n + m) }))))

    t.equal(outcomes.filter(outcome => outcome === true).length, 1)
    t.match(await store.clients.find(id), recordOf(outcomes.indexOf(true)))
  })
  t.test('of eight replacements of one version one succeeds', async t => {
    const id = newId()
    await store.interactions.create(id, newInteraction(), clock.nowMs() + 600_000)
    const version = (await store.interactions.find(id))?.version ?? 0
    const call = (): RacedCall => ({ kind: 'replace', id, version, record: newInteraction() })

    const outcomes = await run(times(4, () => [call(), call()]))

    t.equal(outcomes.filter(outcome => outcome === true).length, 1)
  })
}
