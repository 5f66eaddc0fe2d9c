/**
 * Sends generated and mutated requests to our HTTP/1.1 server and to Node's, and compares what they read:
 *
 *     node test/http/fuzz/fuzz.ts --requests 1000000 --seed 1 [--first INDEX]
 *
 * Exits with 1 if our server accepts a request that Node's refuses, reads it in another way, or refuses it without a
 * reason of the table in refusal-table.ts.
 */
import { parseArgs } from 'node:util'
import { createOurServer } from './our-server.ts'
import { type FuzzResult, runFuzz } from './run-fuzz.ts'

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      first: { type: 'string', default: '0' },
    },
  })
  return { requests: Number(values.requests), seed: Number(values.seed), first: Number(values.first) }
}

const print = ({ cases, verdicts, violations }: FuzzResult, seconds: number): void => {
  console.log(`${cases} cases in ${seconds.toFixed(1)} s`)
  for (const [verdict, count] of [...verdicts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(count).padStart(9)}  ${verdict}`)
  }
  for (const { seed, index, what, bytes } of violations) {
    console.log(`\nseed ${seed}, index ${index}: ${what}\n${JSON.stringify(bytes)}`)
  }
}

const startedAt = performance.now()
const result = await runFuzz({ ...readOptions(), createServer: createOurServer })
print(result, (performance.now() - startedAt) / 1000)
process.exitCode = result.violations.length > 0 ? 1 : 0
