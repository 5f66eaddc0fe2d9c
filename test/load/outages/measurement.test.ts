import t from 'tap'
import type { Seen } from '../../support/steady-load.ts'
import { judge } from './measurement.ts'
import { isKept, toMarkdown } from './report.ts'

const instants = { loadedAtMs: 0, awayAtMs: 1000, backAtMs: 4000, sharedAtMs: 4300 }

/** A request each ten milliseconds, for five seconds. */
const seenWith = (waitMs: (sentAtMs: number) => number, status = 429): readonly Seen[] =>
  Array.from({ length: 500 }, (_, nth) => ({
    clientId: 'c1',
    sentAtMs: 10 * nth,
    answeredAtMs: 10 * nth + waitMs(10 * nth),
    status,
    retryAfter: undefined,
  }))

t.test('waits are separated by their time', async t => {
  const measurement = judge(
    seenWith(sentAtMs => (sentAtMs >= 1000 && sentAtMs < 1050 ? 60 : 2)),
    instants,
  )

  t.match(measurement, {
    awayMs: 3000,
    p50BeforeMs: 2,
    p99BeforeMs: 2,
    p99FirstMs: 60,
    longestMs: 60,
    backAfterMs: 300,
  })
  t.equal(measurement.p99AwayMs, 60)
})

t.test('one wait in a hundred may be long, two may not', async t => {
  const row = (slow: number) => ({
    title: 'gone',
    measurement: judge(
      seenWith(sentAtMs => (sentAtMs >= 1000 && sentAtMs < 1000 + 10 * slow ? 150 : 2)),
      instants,
    ),
  })

  t.equal(isKept(row(1)), true)
  t.equal(isKept(row(2)), false)
  t.match(toMarkdown([row(2)]), /^\| gone \\\* \|/m)
})

t.test(
  'a client without an answer, with too many admissions, or with a long wait for the shared count breaks the promise',
  async t => {
    const kept = judge(
      seenWith(() => 2),
      instants,
    )

    t.equal(isKept({ title: '', measurement: kept }), true)
    for (const worse of [{ failed: 1 }, { most: 201 }, { backAfterMs: 1000 }])
      t.equal(isKept({ title: '', measurement: { ...kept, ...worse } }), false)
  },
)

t.test('admissions count by client', async t => {
  const one = seenWith(() => 2, 200)
  const other = one.map(seen => ({ ...seen, clientId: 'c2' }))

  t.equal(judge([...one, ...other], instants).most, 100)
})
