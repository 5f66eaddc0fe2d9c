import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckoutCopy } from './checkout-copy.ts'

/** How a test file ended. */
export type TestRun =
  | { readonly outcome: 'passed' }
  /** `title`: of the first test that failed, or how the process ended. */
  | { readonly outcome: 'failed'; readonly title: string }
  | { readonly outcome: 'timed out' }
  /** The source with the mutant in it does not load, which each test would notice. */
  | { readonly outcome: 'broken'; readonly title: string }

export interface TestRunOptions {
  readonly timeLimitMs: number
  /** As `Mutant.only`. */
  readonly only?: string | undefined
  /** Ends the test file before its time. */
  readonly signal: AbortSignal
}

/**
 * The part of the output that is kept, in characters: the first failure stands near the end, because it ends the run.
 */
const longestOutput = 4_000_000

/** Runs one test file in the copy, and ends every process that it has started. */
export const runTestFile = async (copy: CheckoutCopy, file: string, options: TestRunOptions): Promise<TestRun> => {
  const { timeLimitMs, only, signal } = options
  mkdirSync(copy.temporary, { recursive: true })
  const child = spawn(process.execPath, [file], {
    cwd: copy.root,
    env: environment(copy, timeLimitMs, only),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: with it, gateways and stores end that the test file has left behind.
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output = (output + piece).slice(-longestOutput)
    })
  }
  const interrupted = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)])
  const end = (): void => killGroup(child)
  interrupted.addEventListener('abort', end)
  if (interrupted.aborted) end()
  const closed = once(child, 'close')
  try {
    // A process that was left behind may hold the pipe open, and so put off `close`, until its group is killed.
    const [code, killedBy] = await once(child, 'exit')
    killGroup(child)
    await closed
    return judge(code === 0, interrupted.aborted, output, `the process ended with ${code ?? killedBy}`)
  } finally {
    interrupted.removeEventListener('abort', end)
    rmSync(copy.temporary, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Without what tap tells the processes that it starts: the file is run by itself. */
const environment = (copy: CheckoutCopy, timeLimitMs: number, only: string | undefined): NodeJS.ProcessEnv => {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^_?TAP|^NODE_(OPTIONS|TEST)|^LOG_LEVEL$/.test(name),
  )
  return {
    ...Object.fromEntries(inherited),
    TMPDIR: copy.temporary,
    NODE_COMPILE_CACHE: join(copy.root, '../compiled'),
    TAP_TIMEOUT: String(Math.ceil(timeLimitMs / 1000)),
    TAP_BAIL: '1',
    ...(only !== undefined && { TAP_GREP: `/${only}/` }),
  }
}

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Every process of the group has ended.
  }
}

const judge = (hasPassed: boolean, isInterrupted: boolean, output: string, ending: string): TestRun => {
  const fault = unloadable.exec(output)?.[0]
  if (!hasPassed && fault !== undefined) return { outcome: 'broken', title: fault }
  if (isInterrupted) return { outcome: 'timed out' }
  return hasPassed ? { outcome: 'passed' } : { outcome: 'failed', title: failedTitle(output) ?? ending }
}

/** A name that is not there, or a script that Redis refuses, is no fault that a test has to look for. */
const unloadable = /ReferenceError: .* is not defined|Error compiling script.*/

/** Of the innermost test that was under way when the first assertion failed. */
const failedTitle = (output: string): string | undefined => {
  const failedAt = output.search(/^ *not ok /m)
  if (failedAt < 0) return undefined
  const titles = [...output.slice(0, failedAt).matchAll(/^ *# Subtest: (.*)$/gm)]
  return titles.at(-1)?.[1]
}
