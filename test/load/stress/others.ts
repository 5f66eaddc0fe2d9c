/**
 * The well-behaved clients, as a program: `node others.ts URL`. A message over its IPC channel has the duration and
 * the rate; it sends the requests and replies with the results.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startSteadyLoad } from '../../support/steady-load.ts'
import { cores } from '../program.ts'
import type { Served } from './attack-report.ts'
import { quietNode } from './quiet-node.ts'

/** Their load: a small part of the capacity of one worker. */
const othersPerSec = 500

/** Until all that takes part is compiled, which would look like a slow gateway where it came later. */
const warmUp: Asking = { durationSec: 10, perSec: 3000 }

interface Asking {
  readonly durationSec: number
  readonly perSec: number
}

/** The well-behaved clients of a gateway, in a process of their own. */
export interface Others extends Disposable {
  /** Sends requests for this long, and resolves to the results. */
  serve(durationSec: number): Promise<Served>
}

export const startOthers = async (url: string): Promise<Others> => {
  const command = ['-c', cores.load, ...quietNode, import.meta.filename, url]
  const child: ChildProcess = spawn('taskset', command, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process of the well-behaved clients ended with ${code}`)
  })
  ended.catch(() => undefined)
  const order = async (asking: Asking): Promise<Served> => {
    const served = once(child, 'message')
    child.send(asking)
    const [seen] = await Promise.race([served, ended])
    return seen as Served
  }
  await order(warmUp)
  return {
    serve: durationSec => order({ durationSec, perSec: othersPerSec }),
    [Symbol.dispose]: () => void child.disconnect(),
  }
}

const ask = async (url: string, { durationSec, perSec }: Asking): Promise<Served> => {
  const load = startSteadyLoad(url, ['others'], perSec)
  await sleep(durationSec * 1000)
  await load.stop()
  const waits = load.seen.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs).sort((a, b) => a - b)
  const at = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), failed: load.seen.filter(({ status }) => status !== 200).length }
}

if (import.meta.main) {
  const [url = ''] = process.argv.slice(2)
  process.on('message', (asking: Asking) => void ask(url, asking).then(seen => process.send?.(seen)))
}
