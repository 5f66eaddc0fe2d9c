import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import type { Mutant } from './mutant.ts'
import { type MutantResult, type MutantRun, runMutants } from './run-mutants.ts'

const source = 'export const sum = (a: number, b: number): number => a + b\n'

/** Each is a program that fails as a test does. */
const tests: Readonly<Record<string, string>> = {
  'sum.test.ts': "import { sum } from '../src/sum.ts'\nif (sum(2, 1) !== 3) throw new Error('wrong')\n",
  'weak.test.ts': "import { sum } from '../src/sum.ts'\nif (sum(2, 0) !== 2) throw new Error('wrong')\n",
  'failing.test.ts': 'process.exitCode = 1\n',
  'hanging.test.ts':
    "import { sum } from '../src/sum.ts'\nimport { spawn } from 'node:child_process'\nimport { writeFileSync } from 'node:fs'\n" +
    "if (sum(2, 1) === 3) process.exit()\nconst child = spawn('sleep', ['1000'], { stdio: 'inherit' })\n" +
    "writeFileSync(process.env.PID_FILE ?? '', String(child.pid))\nsetInterval(() => {}, 1000)\n",
}

const minus: Mutant = {
  name: 'it subtracts',
  file: 'src/sum.ts',
  find: 'a + b',
  replace: 'a - b',
  tests: ['test/sum.test.ts'],
}

interface Bench {
  readonly checkout: string
  run(mutants: readonly Mutant[], wishes?: Partial<MutantRun>): Promise<readonly MutantResult[]>
  /** The files in the folder for temporary files. */
  leftovers(): readonly string[]
}

/** A checkout with one source file, and a folder for temporary files that only this test uses. */
const createBench = (t: Test): Bench => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-test-'))
  const before = process.env.TMPDIR
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(dir, { recursive: true, force: true })
  })
  const [checkout, temporary] = [join(dir, 'checkout'), join(dir, 'tmp')]
  for (const folder of ['src', 'test', 'node_modules']) mkdirSync(join(checkout, folder), { recursive: true })
  mkdirSync(temporary)
  writeFileSync(join(checkout, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(checkout, 'src/sum.ts'), source)
  for (const [name, text] of Object.entries(tests)) writeFileSync(join(checkout, 'test', name), text)
  process.env.TMPDIR = temporary
  const usual = { checkout, jobs: 2, timeLimitMs: 60_000, signal: new AbortController().signal, onResult: () => {} }
  return {
    checkout,
    run: (mutants, wishes) => runMutants({ ...usual, mutants, ...wishes }),
    leftovers: () => readdirSync(temporary),
  }
}

t.test('a fault is killed by the test that fails with it, and survives those that pass', async t => {
  const bench = createBench(t)
  const weak = { ...minus, tests: ['test/weak.test.ts'] }

  const results = await bench.run([minus, weak, { ...minus, tests: ['test/weak.test.ts', 'test/sum.test.ts'] }])

  t.same(
    results.map(({ mutant, verdict, detail }) => ({ tests: mutant.tests, verdict, detail })),
    [
      { tests: minus.tests, verdict: 'killed', detail: 'test/sum.test.ts: the process ended with 1' },
      { tests: weak.tests, verdict: 'survived', detail: 'test/weak.test.ts' },
      {
        tests: ['test/weak.test.ts', 'test/sum.test.ts'],
        verdict: 'killed',
        detail: 'test/sum.test.ts: the process ended with 1',
      },
    ],
  )
  t.equal(readFileSync(join(bench.checkout, 'src/sum.ts'), 'utf8'), source)
  t.same(bench.leftovers(), [])
})

t.test('nothing is concluded from a table that is wrong, or from a test that fails anyway', async t => {
  const bench = createBench(t)
  const tables: readonly Mutant[] = [
    { ...minus, find: 'a * b' },
    { ...minus, replace: 'a + (b' },
    { ...minus, replace: 'a + c' },
    { ...minus, tests: ['test/failing.test.ts'] },
  ]

  const results = await bench.run(tables, { jobs: 1 })

  t.same(
    results.map(({ verdict, detail }) => [verdict, detail]),
    [
      ['invalid', 'src/sum.ts has the text 0 times, not once: a * b'],
      ['invalid', 'src/sum.ts is no TypeScript with this replacement: a + (b'],
      ['invalid', 'the source does not load: ReferenceError: c is not defined'],
      ['invalid', 'test/failing.test.ts fails without the mutant: the process ended with 1'],
    ],
  )
  t.same(bench.leftovers(), [])
})

t.test('a test that hangs with the fault ends at its time limit, with the processes that it has started', async t => {
  const bench = createBench(t)
  const pidFile = join(bench.checkout, 'pid')
  process.env.PID_FILE = pidFile
  t.teardown(() => delete process.env.PID_FILE)

  const [result] = await bench.run([{ ...minus, tests: ['test/hanging.test.ts'] }], { timeLimitMs: 5000 })

  t.equal(result?.verdict, 'killed')
  t.equal(result?.detail, 'test/hanging.test.ts: timed out')
  const pid = Number(readFileSync(pidFile, 'utf8'))
  t.ok(pid > 0)
  await eventually(async () => !isAlive(pid))
  t.same(bench.leftovers(), [])
})

t.test('a run that is interrupted ends at once and leaves nothing behind', async t => {
  const bench = createBench(t)
  const interruption = new AbortController()
  process.env.PID_FILE = join(bench.checkout, 'pid')
  t.teardown(() => delete process.env.PID_FILE)

  const running = bench.run([{ ...minus, tests: ['test/hanging.test.ts'] }, minus], {
    jobs: 1,
    signal: interruption.signal,
  })
  await eventually(async () => readdirSync(bench.checkout).includes('pid'))
  interruption.abort()

  t.same(await running, [])
  t.same(bench.leftovers(), [])
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
