import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildPackage } from '../../support/built-package.ts'
import { childrenOf, residentMiB, residentMiBTogether } from '../../support/memory.ts'
import { fetchToken, type StartedGateway, startGateway } from '../gateway.ts'
import { startUpstream } from '../nginx.ts'
import { cores, Programs } from '../program.ts'
import { startRedis } from '../redis.ts'
import { parseRounds, type Rounds } from '../rounds.ts'
import { measure } from '../wrk.ts'
import { hasHeld, type Memory, type RestResult, toRestTable } from './rest-report.ts'

export const restUsage = 'npm run bench -- rest [--seconds N] [--rounds N]'

/** From the start until memory is looked at. */
const settleMs = 3_000

/** From the end of the load: what is freed is given back twice, three and thirteen seconds later. */
const calmMs = 15_000

/**
 * Undefined where only help was asked for.
 * @throws TypeError that says what is wrong with the arguments
 */
export const parseRestOptions = (args: readonly string[]): Rounds | undefined => {
  const parsed = parseRounds(args)
  if (parsed !== undefined && parsed.names.length > 0) throw new TypeError(`unknown: ${parsed.names.join(', ')}`)
  return parsed
}

/**
 * Builds Sidegate as the package contains it, starts it with one worker in each round, and prints how long that took
 * and how much memory it holds. Resolves to whether all goals are met.
 */
export const benchRest = async (options: Rounds, interruption: AbortSignal): Promise<boolean> => {
  // This process, which polls for readiness, must not take time from the core on which the program starts.
  spawnSync('taskset', ['-apc', cores.load, `${process.pid}`])
  const results: RestResult[] = []
  const built = mkdtempSync(join(tmpdir(), 'sidegate-built-'))
  try {
    const program = buildPackage(built)
    for (let round = 1; round <= options.rounds; round++) {
      results.push(await measureRound(program, options.durationSec, interruption))
      console.error(`round ${round} of ${options.rounds}`)
    }
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
  console.log(toRestTable(results))
  return hasHeld(results)
}

const measureRound = async (program: string, durationSec: number, interruption: AbortSignal): Promise<RestResult> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-rest-'))
  try {
    return await measureIn({ program, dir }, durationSec, interruption)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

interface Place {
  /** The launcher. */
  readonly program: string
  /** For what it is started with. */
  readonly dir: string
}

/** All has ended when it resolves. */
const measureIn = async (place: Place, durationSec: number, interruption: AbortSignal): Promise<RestResult> => {
  await using programs = new Programs()
  const gateway = await start(programs, place)
  await sleep(settleMs, undefined, { signal: interruption })
  const fresh = memoryOf(gateway)
  await loadWith(gateway, durationSec, interruption)
  await sleep(calmMs, undefined, { signal: interruption })
  return { readyMs: gateway.readyMs, fresh, afterLoad: memoryOf(gateway) }
}

const start = async (programs: Programs, { program, dir }: Place): Promise<StartedGateway> =>
  startGateway(programs, {
    name: 'sidegate',
    upstream: (await startUpstream(programs, dir, cores.load)).origin,
    store: await startRedis(programs),
    logLevel: 'info',
    program,
    dir,
  })

/** That of the row `everything`. */
const loadWith = async (gateway: StartedGateway, durationSec: number, interruption: AbortSignal): Promise<void> => {
  const { origin, pid } = gateway
  const headers = { authorization: `Bearer ${await fetchToken(origin)}` }
  const load = { pid, url: `${origin}/guarded/1`, method: 'GET', headers, body: '' } as const
  const { failed } = await measure(load, durationSec, interruption)
  if (failed > 0) throw new Error(`${failed} requests of the load failed`)
}

/** @throws Error where there is no worker, or more than one */
const memoryOf = ({ pid }: StartedGateway): Memory => {
  const [worker, ...others] = childrenOf(pid)
  if (worker === undefined || others.length > 0) throw new Error('sidegate does not have one worker')
  return { workerMiB: residentMiB(worker), wholeMiB: residentMiBTogether([pid, worker]) }
}
