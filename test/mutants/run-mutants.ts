import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CheckoutCopy } from './checkout-copy.ts'
import type { Mutant } from './mutant.ts'
import { runTestFile, type TestRun } from './run-test-file.ts'

/** `killed`: a test noticed the fault. `invalid`: the table is wrong, so nothing is known of the fault. */
export interface MutantResult {
  readonly mutant: Mutant
  readonly verdict: 'killed' | 'survived' | 'invalid'
  /** The test that noticed the fault, or a sentence that says what is wrong with the table. */
  readonly detail: string
  readonly durationMs: number
}

export interface MutantRun {
  /** The top of the checkout. */
  readonly checkout: string
  readonly mutants: readonly Mutant[]
  /** How many mutants are tested at the same time, each in a copy of its own. */
  readonly jobs: number
  /** The longest that one test file may take. */
  readonly timeLimitMs: number
  /** Ends the run before its time. Nothing is left behind then either. */
  readonly signal: AbortSignal
  onResult(result: MutantResult): void
}

/** A test file, and which of its tests are run. */
type Suite = Pick<Mutant, 'only'> & { readonly file: string }

/** A test of the unchanged source that fails once may have met a busy machine. */
const baselineTries = 2

/**
 * Plants the mutants one at a time in copies of the checkout, and runs their tests. The tests first run without any
 * mutant, because a test that fails anyway would seem to notice each fault.
 * @returns the result of each mutant, in the order of the table; fewer if the run was interrupted
 */
export const runMutants = async (run: MutantRun): Promise<readonly MutantResult[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'mutants-'))
  try {
    const copies = Array.from({ length: Math.max(1, Math.min(run.jobs, run.mutants.length)) }, (_, nth) => {
      const own = join(dir, String(nth))
      mkdirSync(own)
      return new CheckoutCopy(run.checkout, own)
    })
    const failing = await findFailing(run, copies)
    const results = new Map<Mutant, MutantResult>()
    await share(copies, run.mutants, run.signal, async (copy, mutant) => {
      const result = await testMutant(run, copy, mutant, failing)
      if (run.signal.aborted) return
      results.set(mutant, result)
      run.onResult(result)
    })
    return run.mutants.flatMap(mutant => results.get(mutant) ?? [])
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Each copy takes the next item when it has done with the one before. */
const share = async <Item>(
  copies: readonly CheckoutCopy[],
  items: readonly Item[],
  signal: AbortSignal,
  work: (copy: CheckoutCopy, item: Item) => Promise<void>,
): Promise<void> => {
  const left = items.values()
  const workOff = async (copy: CheckoutCopy): Promise<void> => {
    for (const item of left) {
      if (signal.aborted) return
      await work(copy, item)
    }
  }
  await Promise.all(copies.map(workOff))
}

/** The tests that fail without any mutant, with what they say. */
const findFailing = async (run: MutantRun, copies: readonly CheckoutCopy[]): Promise<ReadonlyMap<string, string>> => {
  const suites = new Map(run.mutants.flatMap(suitesOf).map(suite => [nameOf(suite), suite]))
  const failing = new Map<string, string>()
  await share(copies, [...suites], run.signal, async (copy, [name, suite]) => {
    for (let nth = 1; nth <= baselineTries; nth++) {
      const ended = await runTestFile(copy, suite.file, { ...run, only: suite.only })
      if (ended.outcome === 'passed') return
      if (nth === baselineTries) failing.set(name, detailOf(ended))
    }
  })
  return failing
}

const testMutant = async (
  run: MutantRun,
  copy: CheckoutCopy,
  mutant: Mutant,
  failing: ReadonlyMap<string, string>,
): Promise<MutantResult> => {
  const startedAtMs = performance.now()
  const end = (verdict: MutantResult['verdict'], detail: string): MutantResult => ({
    mutant,
    verdict,
    detail,
    durationMs: performance.now() - startedAtMs,
  })
  const broken = suitesOf(mutant).find(suite => failing.has(nameOf(suite)))
  if (broken) return end('invalid', `${broken.file} fails without the mutant: ${failing.get(nameOf(broken))}`)
  let takeOut: (() => void) | undefined
  try {
    takeOut = copy.plant(mutant)
    for (const suite of suitesOf(mutant)) {
      const ended = await runTestFile(copy, suite.file, { ...run, only: suite.only })
      if (ended.outcome === 'broken') return end('invalid', `the source does not load: ${ended.title}`)
      if (ended.outcome !== 'passed') return end('killed', `${suite.file}: ${detailOf(ended)}`)
    }
    return end('survived', mutant.tests.join(' '))
  } catch (error) {
    return end('invalid', error instanceof Error ? error.message : String(error))
  } finally {
    takeOut?.()
  }
}

const suitesOf = ({ tests, only }: Mutant): readonly Suite[] =>
  tests.map(file => ({ file, ...(only !== undefined && { only }) }))

const nameOf = ({ file, only = '' }: Suite): string => `${file} ${only}`

const detailOf = (ended: TestRun): string => ('title' in ended ? ended.title : ended.outcome)
