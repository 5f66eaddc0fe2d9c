import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMiB } from '../../support/memory.ts'
import { cores, Programs } from '../program.ts'
import { parseRounds, type Rounds } from '../rounds.ts'
import { type AttackRow, hasHeld, toAttackTable } from './attack-report.ts'
import { attacks } from './attacks.ts'
import { type StressedGateway, startStressedGateway } from './gateway.ts'
import { type Others, startOthers } from './others.ts'

export const attackUsage = 'npm run bench -- attack [--seconds N] [--rounds N] [attack ...]'

/**
 * From the end of an attack until the measurement of memory, in milliseconds: the worker returns freed memory twice,
 * three and thirteen seconds later.
 */
const calmMs = 15_000

/**
 * Undefined where only help was asked for.
 * @throws TypeError that says what is wrong with the arguments
 */
export const parseAttackOptions = (args: readonly string[]): Rounds | undefined => {
  const parsed = parseRounds(args)
  if (parsed === undefined) return undefined
  const all = Object.keys(attacks)
  const unknown = parsed.names.filter(name => !all.includes(name))
  if (unknown.length > 0) throw new TypeError(`unknown: ${unknown.join(', ')}; there are ${all.join(', ')}`)
  return { ...parsed, names: parsed.names.length === 0 ? all : parsed.names }
}

/** Attacks a gateway in every way while others use it, and prints what they saw. Resolves to whether it held. */
export const benchAttack = async (options: Rounds, interruption: AbortSignal): Promise<boolean> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-attack-'))
  spawnSync('taskset', ['-apc', cores.load, `${process.pid}`])
  await using programs = new Programs()
  try {
    const gateway = await startStressedGateway(programs, dir)
    using others = await startOthers(`${gateway.origin}/a`)
    const warmMiB = residentMiB(gateway.workerPid)
    const rows = options.names.map((name): AttackRow => ({ title: attacks[name]?.title ?? name, rounds: [] }))
    for (let round = 0; round < options.rounds; round++) {
      for (const [place, name] of options.names.entries()) {
        interruption.throwIfAborted()
        const undisturbed = await others.serve(options.durationSec)
        const result = { warmMiB, undisturbed, ...(await attack(gateway, others, name, options.durationSec)) }
        rows[place]?.rounds.push(result)
        console.error(
          `round ${round + 1}: ${name}: p99 ${undisturbed.p99Ms.toFixed(1)} ms, then ${result.attacked.p99Ms.toFixed(1)} ms`,
        )
      }
    }
    console.log(toAttackTable(rows))
    return rows.every(hasHeld)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const attack = async (gateway: StressedGateway, others: Others, name: string, durationSec: number) => {
  const attacker = await beginAttack(gateway, name)
  const attacked = await others.serve(durationSec)
  if (!existsSync(`/proc/${gateway.workerPid}`)) throw new Error(`a worker died of the attack ${name}`)
  const adminMs = await askAdmin(gateway)
  const duringMiB = residentMiB(gateway.workerPid)
  const ended = once(attacker, 'exit')
  attacker.kill('SIGKILL')
  await ended
  await sleep(calmMs)
  return { attacked, adminMs, duringMiB, afterMiB: residentMiB(gateway.workerPid) }
}

const beginAttack = async ({ origin }: StressedGateway, name: string): Promise<ChildProcess> => {
  const command = [
    '-c',
    cores.load,
    'chrt',
    '--idle',
    '0',
    process.execPath,
    join(import.meta.dirname, 'attacker.ts'),
    name,
    origin,
  ]
  const attacker = spawn('taskset', command, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [begun] = await Promise.race([once(attacker, 'message'), once(attacker, 'exit')])
  if (begun !== 'begun') throw new Error(`the attack ${name} ended before it began`)
  return attacker
}

/** How long a scrape of the metrics takes, in milliseconds. */
const askAdmin = async ({ admin }: StressedGateway): Promise<number> => {
  const askedAtMs = performance.now()
  const answer = await fetch(`${admin}/metrics`)
  await answer.text()
  return answer.ok ? performance.now() - askedAtMs : Number.NaN
}
