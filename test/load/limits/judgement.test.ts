import t from 'tap'
import { judge } from './judgement.ts'
import type { Answer } from './trace.ts'

/** Three in any second. */
const terms = { limit: 3, windowMs: 1000 }

/** Sent then, decided within 10 ms. */
const answer = (outcome: Answer['outcome'], sentAtMs: number, changes: Partial<Answer> = {}): Answer => ({
  client: 'a',
  outcome,
  sentAtMs,
  decidedByMs: sentAtMs + 10,
  answeredAtMs: sentAtMs + 20,
  ...changes,
})

const admittedAt = (...instants: readonly number[]): readonly Answer[] => instants.map(at => answer('admitted', at))

t.test('of the admissions only those count that were certainly within one window', async t => {
  t.equal(judge(admittedAt(0, 100, 200, 989), terms).most, 4)
  t.equal(judge(admittedAt(0, 100, 200, 990), terms).most, 3, 'the last may have been decided a window after the first')
})

t.test('each client has a window of its own', async t => {
  const trace = ['a', 'b'].flatMap(client => admittedAt(0, 100, 200).map(one => ({ ...one, client })))

  t.equal(judge(trace, terms).most, 3)
})

t.test('a refusal is false where the window before it cannot have been full', async t => {
  const judged = judge([...admittedAt(0, 100), answer('refused', 200)], terms)

  t.equal(judged.falseRefusals, 1)
})

t.test('a refusal is not false where any order of events makes the window full', async t => {
  const full = admittedAt(0, 100, 200)

  t.equal(judge([...full, answer('refused', 300)], terms).falseRefusals, 0)
  t.equal(judge([...full, answer('refused', 195)], terms).falseRefusals, 0, 'it may have come after the third')
  t.equal(judge([...full, answer('refused', 185)], terms).falseRefusals, 1, 'it was decided before the third was sent')
  t.equal(judge([...full, answer('refused', 1009)], terms).falseRefusals, 0, 'the first may still have counted')
  t.equal(judge([...full, answer('refused', 1010)], terms).falseRefusals, 1, 'the first one was outside the window')
})

t.test('a request without an answer may have been let in', async t => {
  const lost = answer('failed', 150, { decidedByMs: 5000, answeredAtMs: 5000 })

  const judged = judge([...admittedAt(0, 100), lost, answer('refused', 200)], terms)

  t.match(judged, { falseRefusals: 0, failed: 1, most: 2 })
})

t.test('what was let in is measured by what there was room for', async t => {
  const offered = [0, 100, 200, 300, 400, 1000, 1050]
  const admissible = new Set([0, 100, 200, 1000])
  const trace = offered.map(at => answer(admissible.has(at) ? 'admitted' : 'refused', at))

  t.equal(judge(trace, terms).share, 1)
  t.equal(judge(admittedAt(...offered), terms).share, 7 / 4)
  t.equal(judge(admittedAt(0, 600, 1200), terms).share, 1, 'of what fits, all')
})

t.test('the quantiles are of all answers, from their sending', async t => {
  const trace = Array.from({ length: 100 }, (_, i) => answer('admitted', 10 * i, { answeredAtMs: 11 * i + 1 }))

  t.match(judge(trace, terms), { p50Ms: 50, p99Ms: 99, offeredPerSec: 100 })
})

t.test('of a part of a run only that is judged, with what was let in before', async t => {
  const before = [...admittedAt(0, 100, 200), answer('failed', 300)]
  const span = { beginsAtMs: 400, settledAtMs: 500, endsAtMs: 2000 }
  const changing = answer('refused', 450)
  const judged = judge([...before, changing, answer('refused', 600), ...admittedAt(1000, 2000)], terms, span)

  t.match(judged, { most: 1, failed: 0, falseRefusals: 0, share: 1 })
  t.equal(judge([answer('refused', 450), answer('refused', 600)], terms, span).falseRefusals, 1, 'once it is settled')
})
