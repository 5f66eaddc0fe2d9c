import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../support/free-port.ts'
import { answers, cores, Programs } from '../program.ts'
import { faketime } from './faketime.ts'
import type { Topology } from './fleet.ts'
import type { LimitsOptions } from './options.ts'
import { isBroken, toMarkdown } from './report.ts'
import { type Row, run } from './run.ts'
import type { Scenario } from './scenario.ts'
import { openStage, type Place } from './stage.ts'

/**
 * Tests Sidegate's strict plans, and `rate-limiter-flexible` beside them, in every scenario and topology, and prints
 * a table for each. Resolves to whether Sidegate never let in more than it promises. Leaves no process behind.
 */
export const benchLimits = async (options: LimitsOptions, interruption: AbortSignal): Promise<boolean> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-limits-'))
  await using programs = new Programs()
  try {
    const upstream = await startUpstream(programs)
    const playable = options.scenarios.filter(isPlayable)
    const rows: Row[] = []
    for (const topology of options.topologies) {
      const played = await playAll({ ...options, scenarios: playable }, topology, { dir, upstream }, interruption)
      console.log(`${toMarkdown(topology, played)}\n`)
      rows.push(...played)
    }
    return !rows.some(isBroken)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const isPlayable = ({ name, place }: Scenario): boolean => {
  if (place !== 'skewed' || faketime !== undefined) return true
  console.error(`${name} is left out: it needs Debian's package libfaketime`)
  return false
}

const startUpstream = async (programs: Programs): Promise<string> => {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  await programs.start({
    name: 'upstream',
    core: cores.all,
    command: [process.execPath, join(import.meta.dirname, 'upstream.ts'), `${port}`],
    readyWhen: () => answers(url),
  })
  return url
}

/** Plays the scenarios in one topology, those of one place on one stage. */
const playAll = async (
  { scenarios, durationSec }: LimitsOptions,
  topology: Topology,
  setting: { readonly dir: string; readonly upstream: string },
  interruption: AbortSignal,
): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const [place, played] of Map.groupBy(scenarios, ({ place = 'near' }): Place => place)) {
    const clients = [...new Set(played.flatMap(scenario => clientsOf(scenario, durationSec)))]
    await using stage = await openStage(place, { ...setting, topology, clients })
    for (const scenario of played) {
      interruption.throwIfAborted()
      for (const row of await run(stage, scenario, durationSec, interruption)) {
        rows.push(row)
        const most = [row.sidegate, row.competitor].map(({ judgement }) => judgement.most)
        console.error(`${topology.workers}x${topology.pods}: ${scenario.name}: ${most.join(' / ')}`)
      }
    }
  }
  return rows
}

const clientsOf = ({ traffic }: Scenario, durationSec: number): readonly string[] => [
  ...new Set(traffic(durationSec * 1000).map(({ client }) => client)),
]
