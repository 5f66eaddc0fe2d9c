import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
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
  /** The clients that have the plan. */
  readonly clients: readonly string[]
  /** Environment of each pod, by its number from 0. */
  readonly envOf: (pod: number) => Readonly<Record<string, string>>
}

/** Pods of one program that share a Redis. */
export interface Fleet {
  /** Origins of the pods that requests go to now. */
  urls(): readonly string[]
  /** Ends one worker as `kill -9` does. */
  killWorker(): void
  /** How many decisions the workers made so far by themselves, because Redis was silent. */
  countLocal(): Promise<number>
  /** Gives all clients another limit while it serves. Resolves when every worker applies it; throws if one does not. */
  changeLimit(limit: number): Promise<void>
  /** Puts a pod with twice as many workers in the place of each. Resolves when requests go to these alone. */
  grow(): Promise<void>
}

export interface Pod {
  readonly pid: number
  readonly url: string
}

/** How long requests still go to a pod that was told to end, in milliseconds: load balancers notice late. */
const noticeMs = 200

/**
 * Replaces the pods in their list one after another, as an orchestrator does. The successor serves beside the old
 * pod, which gets SIGTERM, and a little later no further requests.
 * @param leave called while the old pod ends
 */
export const replacePods = async <P extends Pod>(
  pods: P[],
  startSuccessor: (pod: number) => Promise<P>,
  leave: (old: P) => Promise<void>,
): Promise<void> => {
  for (const [nth, old] of [...pods].entries()) {
    pods.push(await startSuccessor(nth))
    process.kill(old.pid, 'SIGTERM')
    await sleep(noticeMs)
    pods.splice(pods.indexOf(old), 1)
    await leave(old)
  }
}

/** Ends the first child of a process. Throws when it has none. */
export const killChildOf = (pid: number): void => {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (!child) throw new Error(`process ${pid} has no workers`)
  process.kill(Number(child), 'SIGKILL')
}
