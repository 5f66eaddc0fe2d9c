import t from 'tap'
import { judgePhases } from './phases.ts'
import type { Answer } from './trace.ts'

/** So many admissions, one each millisecond. */
const admitted = (count: number, fromMs: number): readonly Answer[] =>
  Array.from({ length: count }, (_, nth) => {
    const sentAtMs = fromMs + nth
    return { client: 'a', outcome: 'admitted', sentAtMs, decidedByMs: sentAtMs + 1, answeredAtMs: sentAtMs + 2 }
  })

t.test('each phase has its own most, and windows over a change are judged as such', async t => {
  const phases = [
    { limit: 100, beginsAtMs: -1, settledAtMs: -1, endsAtMs: 1000 },
    { limit: 50, beginsAtMs: 1000, settledAtMs: 1100, endsAtMs: 5000 },
  ]
  const [first, second] = judgePhases([...admitted(60, 800), ...admitted(5, 1050), ...admitted(40, 1200)], phases)

  t.match(first, { judgement: { most: 60 }, mostAround: undefined })
  t.match(second, { judgement: { most: 40 }, mostAround: 105 })
})
