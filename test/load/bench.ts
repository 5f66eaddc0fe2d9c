/**
 * The load tests: Sidegate beside what a user would pick instead, in one run on one machine. Prints a table, ends by
 * itself and leaves no process behind. `--help` and README.md say more.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchCompare } from './compare/bench-compare.ts'
import { compareUsage, parseCompareOptions } from './compare/options.ts'
import { benchLimits } from './limits/bench-limits.ts'
import { limitsUsage, parseLimitsOptions } from './limits/options.ts'
import { hasLuaModule, luaPackages } from './nginx-lua/lua-gateway.ts'
import { benchOutages, chooseForms, outagesUsage } from './outages/bench-outages.ts'
import { Programs } from './program.ts'
import { benchRest, parseRestOptions, restUsage } from './rest/bench-rest.ts'
import { parseRounds, type Rounds } from './rounds.ts'
import { baseline, createScenarios, rival, type Scenario } from './scenario.ts'
import { attackUsage, benchAttack, parseAttackOptions } from './stress/bench-attack.ts'
import { benchStreams, parseStreamsOptions, streamsUsage } from './stress/bench-streams.ts'
import { type Row, toTable } from './table.ts'
import { type Measurement, measure } from './wrk.ts'

const usage = `usage: npm run bench -- [--seconds N] [--rounds N] [scenario ...]
       ${compareUsage}
       ${limitsUsage}
       ${outagesUsage}
       ${attackUsage}
       ${streamsUsage}
       ${restUsage}`

/** Before each measurement; it counts for nothing. */
const warmUpSec = 2

const main = async (): Promise<void> => {
  const [first = '', ...rest] = process.argv.slice(2)
  return isTrial(first) ? trials[first](rest) : compareSpeed(process.argv.slice(2))
}

const compareSpeed = async (args: readonly string[]): Promise<void> => {
  const options = parse(() => parseRounds(args))
  if (options === undefined) return
  const problem = findProblem(['wrk', 'nginx', 'redis-server', 'taskset']) ?? findLuaProblem(options.names)
  if (problem !== undefined) return fail(problem, 1)
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-bench-'))
  const programs = new Programs()
  const interruption = createInterruption()
  try {
    const scenarios = chooseScenarios(createScenarios(programs, dir), options.names)
    if (typeof scenarios === 'string') return fail(scenarios, 2)
    console.log(toTable(await measureAll(scenarios, options, interruption)))
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error), 1)
  } finally {
    await programs[Symbol.asyncDispose]()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Something that Sidegate promises, put to the test. */
interface Trial<Options> {
  readonly needs: readonly string[]
  /** Undefined if the caller asked for help only. Throws a TypeError whose message names the wrong argument. */
  parse(args: readonly string[]): Options | undefined
  /** Prints what was measured. Resolves to whether it is as promised. */
  run(options: Options, interruption: AbortSignal): Promise<boolean>
  /** The message if it is not. */
  readonly broken: string
}

const trial =
  <Options>({ needs, parse: parseOptions, run, broken }: Trial<Options>) =>
  async (args: readonly string[]): Promise<void> => {
    const options = parse(() => parseOptions(args))
    if (options === undefined) return
    const problem = findProblem(needs)
    if (problem !== undefined) return fail(problem, 1)
    try {
      const isKept = await run(options, createInterruption())
      if (!isKept) fail(broken, 1)
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error), 1)
    }
  }

const trials = {
  compare: trial({
    needs: ['wrk', 'nginx', 'redis-server', 'taskset'],
    parse: parseCompareOptions,
    run: benchCompare,
    broken: 'the checkout took over 3 % more CPU for a request than the other version',
  }),
  limits: trial({
    needs: ['redis-server', 'taskset'],
    parse: parseLimitsOptions,
    run: benchLimits,
    broken: 'a strict plan did not hold',
  }),
  outages: trial({
    needs: ['redis-server'],
    parse: names => (names.includes('--help') ? undefined : chooseForms(names)),
    run: benchOutages,
    broken: 'an outage was felt for longer than promised',
  }),
  attack: trial({
    needs: ['taskset'],
    parse: parseAttackOptions,
    run: benchAttack,
    broken: 'an attack was felt by others, or took memory that did not come back',
  }),
  streams: trial({
    needs: ['taskset'],
    parse: parseStreamsOptions,
    run: benchStreams,
    broken: 'a worker held more than it may while a body passed',
  }),
  rest: trial({
    needs: ['wrk', 'nginx', 'redis-server', 'taskset'],
    parse: parseRestOptions,
    run: benchRest,
    broken: 'it took longer to start, or held more, than we want',
  }),
} as const

const isTrial = (name: string): name is keyof typeof trials => Object.hasOwn(trials, name)

/** Undefined when there is nothing more to do: help was asked for, or the arguments are wrong. */
const parse = <T>(parseArguments: () => T | undefined): T | undefined => {
  try {
    const options = parseArguments()
    if (options === undefined) console.log(usage)
    return options
  } catch (error) {
    return void fail(`${error instanceof Error ? error.message : error}\n${usage}`, 2)
  }
}

const fail = (sentence: string, exitCode: number): void => {
  console.error(sentence)
  process.exitCode = exitCode
}

/** The programs that this machine lacks, in one line. */
const findProblem = (commands: readonly string[]): string | undefined => {
  if (availableParallelism() < 2) return 'the load tests need two cores: one for what is measured, one for the rest'
  const missing = commands.filter(command => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0)
  return missing.length === 0
    ? undefined
    : `the load tests need ${missing.join(', ')}: apt-get install wrk nginx-light redis-server util-linux`
}

/** The modules that the row with Lua lacks, if it is chosen. */
const findLuaProblem = (names: readonly string[]): string | undefined =>
  (names.length > 0 && !names.includes(rival)) || hasLuaModule()
    ? undefined
    : `the row ${rival} needs the Lua module of nginx: apt-get install ${luaPackages.join(' ')}`

/** The named scenarios and the baseline; or, as a sentence, what is wrong with the names. */
const chooseScenarios = (all: readonly Scenario[], names: readonly string[]): readonly Scenario[] | string => {
  const unknown = names.filter(name => !all.some(scenario => scenario.name === name))
  if (unknown.length > 0) {
    return `unknown: ${unknown.join(', ')}; there are ${all.map(scenario => scenario.name).join(', ')}`
  }
  return names.length === 0 ? all : all.filter(({ name }) => name === baseline || names.includes(name))
}

const measureAll = async (
  scenarios: readonly Scenario[],
  options: Rounds,
  interruption: AbortSignal,
): Promise<readonly Row[]> => {
  const rows = scenarios.map(scenario => ({ scenario, measurements: [] as Measurement[] }))
  for (let round = 1; round <= options.rounds; round++) {
    for (const { scenario, measurements } of rows) {
      const load = await scenario.load()
      await measure(load, warmUpSec, interruption)
      const measurement = await measure(load, options.durationSec, interruption)
      measurements.push(measurement)
      console.error(`round ${round}: ${scenario.title}: ${measurement.requestsPerSec.toFixed(0)}/s`)
    }
  }
  return rows
}

/**
 * Aborts when this process gets a signal to end: the current measurement fails, and the started processes are ended
 * as always.
 */
const createInterruption = (): AbortSignal => {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

await main()
