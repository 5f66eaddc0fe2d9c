import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuTimeUs } from '../support/cpu-time.ts'
import { cores } from './program.ts'

/** One kind of request, sent over and over. */
export interface Load {
  /** The first process of what is under load. */
  readonly pid: number
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Empty: none. */
  readonly body: string
  /** A file with a bearer token in each line: every request takes one of them, at random. Left out: none does. */
  readonly tokensFile?: string
}

/** The result of one run of the load. */
export interface Measurement {
  readonly requestsPerSec: number
  readonly p50Us: number
  readonly p99Us: number
  /** Processor time of what was under load, all its processes together. */
  readonly cpuUsPerRequest: number
  /** Answers with a status of 400 or above, and requests that got none. */
  readonly failed: number
}

/** Connections kept open at once, by one thread. */
const connections = 64

const run = promisify(execFile)

/** Sends the load for so long, as fast as answers come back. Throws when wrk fails, or when `signal` ends it. */
export const measure = async (load: Load, durationSec: number, signal: AbortSignal): Promise<Measurement> => {
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const timing = ['-t', '1', '-c', `${connections}`, '-d', `${durationSec}s`]
  const script = ['-s', join(import.meta.dirname, 'wrk.lua')]
  const usedBeforeUs = cpuTimeUs(load.pid)
  const { stdout } = await run('taskset', ['-c', cores.load, 'wrk', ...timing, ...script, ...headers, load.url], {
    signal,
    env: { ...process.env, LOAD_METHOD: load.method, LOAD_BODY: load.body, LOAD_TOKENS: load.tokensFile ?? '' },
  })
  return toMeasurement(stdout, cpuTimeUs(load.pid) - usedBeforeUs)
}

/** The line that wrk.lua printed last. */
const toMeasurement = (stdout: string, cpuUs: number): Measurement => {
  const json = /^RESULT (.*)$/m.exec(stdout)?.[1]
  if (json === undefined) throw new Error(`wrk printed no result:\n${stdout}`)
  const result = JSON.parse(json) as Record<
    'requests' | 'durationUs' | 'p50Us' | 'p99Us' | 'refused' | 'broken',
    number
  >
  return {
    requestsPerSec: (result.requests / result.durationUs) * 1_000_000,
    p50Us: result.p50Us,
    p99Us: result.p99Us,
    cpuUsPerRequest: cpuUs / result.requests,
    failed: result.refused + result.broken,
  }
}
