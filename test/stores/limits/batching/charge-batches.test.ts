import t from 'tap'
import type { ChargeBatch } from '../../../../src/stores/limits/batching/charge-batch.ts'
import { type ChargeBatches, createChargeBatches } from '../../../../src/stores/limits/batching/charge-batches.ts'
import type { Charge } from '../../../../src/stores/ports/limiter.ts'
import { newId } from '../../../conformance/records.ts'
import { newCharge } from '../../../support/charges.ts'
import { createTestClock } from '../../../support/test-clock.ts'

const setUp = () => {
  const clock = createTestClock(0)
  const batchOf: ChargeBatches<string> = createChargeBatches(clock, ({ key }) => `about ${key}`)
  const charge = newCharge(1)
  /** Charges `count` other keys under the same rules. Each charge checks whether some batches can be forgotten. */
  const othersCome = (count: number): void => {
    for (let nth = 0; nth < count; nth++) batchOf({ ...charge, key: newId() })
  }
  return { clock, batchOf, charge, othersCome }
}

/** A batch can be forgotten if no charge has used it for this long. */
const aMinuteMs = 60_000

/** Answers that the count has no room now, and gets room only after `waitMs`. */
const deny = (batch: ChargeBatch<unknown>, waitMs: number, nowMs: number): void =>
  batch.resolve([], { granted: 0, grantedSoftly: 0, rules: [{ remaining: 0, waitMs }] }, nowMs)

t.test('a key has one batch under the same rules, and another under others', async t => {
  const { batchOf, charge } = setUp()
  const twin: Charge = { ...charge }
  const underOthers: Charge = { ...charge, rules: [...charge.rules] }

  t.equal(batchOf(twin), batchOf(charge))
  t.not(batchOf(underOthers), batchOf(charge))
})

t.test('the question of a batch is built once', async t => {
  let questions = 0
  const batchOf = createChargeBatches(createTestClock(0), () => ++questions)
  const charge = newCharge(1)

  batchOf(charge)
  batchOf(charge)

  t.equal(questions, 1)
})

t.test('a batch that no charge has used for a while is forgotten when charges for other keys come', async t => {
  const { clock, batchOf, charge, othersCome } = setUp()
  const batch = batchOf(charge)
  clock.advance(aMinuteMs)

  othersCome(3)

  t.not(batchOf(charge), batch)
})

t.test('an unused batch is also forgotten when only charges for known keys come', async t => {
  const { clock, batchOf, charge } = setUp()
  const known: Charge = { ...charge, key: newId() }
  const [batch, knownLine] = [batchOf(charge), batchOf(known)]
  clock.advance(aMinuteMs)
  deny(knownLine, aMinuteMs, clock.nowMs())

  for (let nth = 0; nth < 100; nth++) batchOf(known)

  t.equal(batchOf(known), knownLine)
  t.not(batchOf(charge), batch)
})

t.test('a batch that a charge used a moment ago is kept', async t => {
  const { clock, batchOf, charge, othersCome } = setUp()
  const batch = batchOf(charge)
  clock.advance(1000)

  othersCome(100)

  t.equal(batchOf(charge), batch)
})

t.test('a batch is kept while a charge waits for it or a question is under way', async t => {
  const { clock, batchOf, charge, othersCome } = setUp()
  const asked: Charge = { ...charge, key: newId() }
  const [batch, queuedBatch] = [batchOf(charge), batchOf(asked)]
  batch.wait(() => undefined)
  queuedBatch.isQueued = true
  clock.advance(aMinuteMs)

  othersCome(100)

  t.equal(batchOf(charge), batch)
  t.equal(batchOf(asked), queuedBatch)
})

t.test('a batch is kept while its key is denied', async t => {
  const { clock, batchOf, charge, othersCome } = setUp()
  const batch = batchOf(charge)
  deny(batch, 2 * aMinuteMs, clock.nowMs())
  clock.advance(aMinuteMs)

  othersCome(100)

  t.equal(batchOf(charge), batch)
  t.equal(batch.refusal()?.waitMs, aMinuteMs)
})
