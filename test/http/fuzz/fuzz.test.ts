import t from 'tap'
import { createOurServer } from './our-server.ts'
import { refusalTable } from './refusal-table.ts'
import { type FuzzResult, runFuzz } from './run-fuzz.ts'

t.test('what our server accepts Node accepts, and both read the same, however the bytes are cut', async t => {
  const result = await runFuzz({ seed: 1, requests: 50_000, createServer: createOurServer })

  t.same(result.violations, [])
  t.equal(result.cases, 50_000)
  t.ok(count(result, 'same') > 10_000, `${count(result, 'same')} cases are accepted by both`)
  for (const { reason } of refusalTable) {
    t.ok(count(result, `we-refuse ${reason}`) > 0, `the row ${reason} of the refusal table occurs`)
  }
})

t.test('the same seed gives the same cases', async t => {
  const options = { seed: 7, requests: 500, createServer: createOurServer }
  t.same(await runFuzz(options), await runFuzz(options))
})

const count = ({ verdicts }: FuzzResult, verdict: string): number => verdicts.get(verdict) ?? 0
