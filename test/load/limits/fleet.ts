import { readFileSync } from 'node:fs'
import type { Programs } from '../program.ts'
import type { Redises } from './redises.ts'

/** How many processes serve: `4x1` are four workers in one pod. */
export interface Topology {
  readonly workers: number
  readonly pods: number
}

export interface FleetStart {
  readonly programs: Programs
  readonly dir: string
  readonly topology: Topology
  readonly redises: Redises
  /** Origin of what the pods forward to. */
  readonly upstream: string
  /** Who has the plan. */
  readonly clients: readonly string[]
  /** Environment of each pod, by its number from 0. */
  readonly envOf: (pod: number) => Readonly<Record<string, string>>
}

/** Pods of one program that share a Redis. */
export interface Fleet {
  /** Origin of each pod. */
  readonly urls: readonly string[]
  /** Ends one worker as `kill -9` does. */
  killWorker(): void
  /** How many decisions the workers made so far by themselves, because Redis was silent. */
  countLocal(): Promise<number>
}

/** Ends the first child of a process. Throws when it has none. */
export const killChildOf = (pid: number): void => {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (!child) throw new Error(`process ${pid} has no workers`)
  process.kill(Number(child), 'SIGKILL')
}
