import t from 'tap'
import type { ChargeBatch } from '../../../../src/stores/limits/batching/charge-batch.ts'
import { type ChargeBatches, createChargeBatches } from '../../../../src/stores/limits/batching/charge-batches.ts'
import type { Charge } from '../../../../src/stores/ports/limiter.ts'
import { newId } from '../../../conformance/records.ts'
import { newCharge } from '../../../support/charges.ts'
import { createTestClock } from '../../../support/test-clock.ts'

const setUp = () => {
  const clock = createTestClock(0)
  const lineOf: ChargeBatches<string> = createChargeBatches(clock, ({ key }) => `about ${key}`)
  const charge = newCharge(1)
  /** So many others come, by the same rules: each has some lines looked at. */
  const othersCome = (count: number): void => {
    for (let nth = 0; nth < count; nth++) lineOf({ ...charge, key: newId() })
  }
  return { clock, lineOf, charge, othersCome }
}

/** Long enough that nobody needs a line any more that nobody has asked at. */
const aMinuteMs = 60_000

/** The count had no room, and has none for so long. */
const deny = (line: ChargeBatch<unknown>, waitMs: number, nowMs: number): void =>
  line.settle([], { granted: 0, grantedSoftly: 0, rules: [{ remaining: 0, waitMs }] }, nowMs)

t.test('a key has one line under the same rules, and another under others', async t => {
  const { lineOf, charge } = setUp()
  const twin: Charge = { ...charge }
  const underOthers: Charge = { ...charge, rules: [...charge.rules] }

  t.equal(lineOf(twin), lineOf(charge))
  t.not(lineOf(underOthers), lineOf(charge))
})

t.test('the question is put together once for a line', async t => {
  let questions = 0
  const lineOf = createChargeBatches(createTestClock(0), () => ++questions)
  const charge = newCharge(1)

  lineOf(charge)
  lineOf(charge)

  t.equal(questions, 1)
})

t.test('a line that nobody has asked at for a while is forgotten when others come', async t => {
  const { clock, lineOf, charge, othersCome } = setUp()
  const line = lineOf(charge)
  clock.advance(aMinuteMs)

  othersCome(3)

  t.not(lineOf(charge), line)
})

t.test('it is forgotten too where only known ones come', async t => {
  const { clock, lineOf, charge } = setUp()
  const known: Charge = { ...charge, key: newId() }
  const [line, knownLine] = [lineOf(charge), lineOf(known)]
  clock.advance(aMinuteMs)
  deny(knownLine, aMinuteMs, clock.nowMs())

  for (let nth = 0; nth < 100; nth++) lineOf(known)

  t.equal(lineOf(known), knownLine)
  t.not(lineOf(charge), line)
})

t.test('a line is kept while it was asked at a moment ago', async t => {
  const { clock, lineOf, charge, othersCome } = setUp()
  const line = lineOf(charge)
  clock.advance(1000)

  othersCome(100)

  t.equal(lineOf(charge), line)
})

t.test('a line is kept while somebody waits at it, or a question is under way', async t => {
  const { clock, lineOf, charge, othersCome } = setUp()
  const asked: Charge = { ...charge, key: newId() }
  const [line, askedLine] = [lineOf(charge), lineOf(asked)]
  line.wait(() => undefined)
  askedLine.isAsked = true
  clock.advance(aMinuteMs)

  othersCome(100)

  t.equal(lineOf(charge), line)
  t.equal(lineOf(asked), askedLine)
})

t.test('a line is kept while its key is denied', async t => {
  const { clock, lineOf, charge, othersCome } = setUp()
  const line = lineOf(charge)
  deny(line, 2 * aMinuteMs, clock.nowMs())
  clock.advance(aMinuteMs)

  othersCome(100)

  t.equal(lineOf(charge), line)
  t.equal(line.refusal()?.waitMs, aMinuteMs)
})
