import t from 'tap'
import { type LoadAnswer, summarize } from './answers.ts'

/** Sent every ten milliseconds, and answered after five. */
const answersWith = (statuses: readonly number[]): readonly LoadAnswer[] =>
  statuses.map((status, index) => ({ status, sentAtMs: 10 * index, answeredAtMs: 10 * index + 5 }))

t.test('what was let in counts where it was sent and answered within one second', async t => {
  const every10Ms = answersWith(Array<number>(300).fill(200))
  const across = { status: 200, sentAtMs: 999, answeredAtMs: 1_000 }

  t.equal(summarize(every10Ms, 3).mostInOneSecond, 100)
  t.equal(summarize([{ status: 200, sentAtMs: 0, answeredAtMs: 5 }, across], 1).mostInOneSecond, 1)
})

t.test('what was refused was not let in, and did not fail', async t => {
  const { mostInOneSecond, failed, statuses } = summarize(answersWith([200, 429, 204, 503, 429, 401]), 1)

  t.same({ mostInOneSecond, failed }, { mostInOneSecond: 2, failed: 2 })
  t.same(statuses, [
    [200, 1],
    [204, 1],
    [401, 1],
    [429, 2],
    [503, 1],
  ])
})

t.test('waits are from the sending to the answer, refusals included', async t => {
  const answers = [1, 2, 3, 4].map(tookMs => ({ status: 429, sentAtMs: 0, answeredAtMs: tookMs }))

  t.match(summarize(answers, 1), { p50Ms: 2, p99Ms: 4 })
})

t.test('the rate is that of the whole load, though it waits for its last second to end', async t => {
  const atItsBeginning = [0, 1_000, 2_000].flatMap(sentAtMs =>
    Array.from({ length: 55 }, () => ({ status: 200, sentAtMs, answeredAtMs: sentAtMs + 5 })),
  )

  t.equal(summarize(atItsBeginning, 3).answersPerSec, 55)
})
