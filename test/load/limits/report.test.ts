import t from 'tap'
import type { Judgement } from './judgement.ts'
import type { JudgedPhase } from './phases.ts'
import { isBroken, toMarkdown } from './report.ts'
import type { Row } from './run.ts'
import type { Scenario } from './scenario.ts'

const judged = (most: number): Judgement => ({
  offeredPerSec: 1234.4,
  most,
  share: 0.994,
  falseRefusals: 0,
  failed: 2,
  p50Ms: 1.25,
  p99Ms: 31.6,
})

const phase = (most: number, mostAround?: number): JudgedPhase => ({
  judgement: judged(most),
  ...(mostAround !== undefined && { mostAround }),
})

const scenario: Scenario = { name: 's', title: '2 ×', traffic: () => [] }

const row = (most: number, changes: Partial<Row> = {}): Row => ({
  scenario,
  limit: 100,
  sidegate: phase(most),
  competitor: phase(199),
  isLocal: false,
  ...changes,
})

t.test('a cell has what came of both', async t => {
  const lines = toMarkdown({ workers: 4, pods: 1 }, [row(100)]).split('\n')

  t.equal(lines[0], '1 pod of 4 workers:')
  t.equal(
    lines.at(-1),
    '| 2 × | 1,234 / 1,234 | 100 / 199 | 99 % / 99 % | 0 / 0 | 2 / 2 | 1.3 ms / 1.3 ms | 32 ms / 32 ms |',
  )
})

t.test('one more than the plan breaks the promise', async t => {
  t.notOk(isBroken(row(100)))
  t.ok(isBroken(row(101)))
})

t.test('around an outage the promise is twice the limit', async t => {
  const outage = { scenario: { ...scenario, isOutage: true } }

  t.notOk(isBroken(row(200, outage)))
  t.ok(isBroken(row(201, outage)))
})

t.test('a row in which workers decided by themselves counts as an outage and is marked', async t => {
  const local = row(150, { isLocal: true })

  t.notOk(isBroken(local))
  t.match(toMarkdown({ workers: 1, pods: 1 }, [local]), /^\| 2 × \\\* \|.+\n\n\\\* The machine stood still/m)
})

t.test('after a reload the new limit holds, and around it the larger of the two', async t => {
  const lowered = (most: number, around: number): Row =>
    row(0, { limit: 50, limitBefore: 100, sidegate: phase(most, around) })

  t.notOk(isBroken(lowered(50, 100)))
  t.ok(isBroken(lowered(51, 100)))
  t.ok(isBroken(lowered(50, 101)))
  t.match(
    toMarkdown({ workers: 1, pods: 1 }, [lowered(50, 100)]),
    /after a reload: 100 becomes 50 \|.+\| 50 \(100\) \/ 199 \|/,
  )
})

t.test('after a reload every client still gets its requests', async t => {
  const starved = (share: number): Row =>
    row(0, { limitBefore: 100, sidegate: { judgement: { ...judged(50), share }, mostAround: 100 } })

  t.notOk(isBroken(starved(0.97)))
  t.ok(isBroken(starved(0.96)))
})
