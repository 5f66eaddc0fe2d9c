import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { z } from 'zod'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'

/** A real Prometheus in a folder and on a port of its own. */
export interface RunningPrometheus {
  /** The result of an instant query. @throws Error with the message of Prometheus if it is not a valid query */
  query(promql: string): Promise<readonly PrometheusSample[]>
  /** The response of another path of its API, such as `/api/v1/rules`. @throws Error with the message of Prometheus */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>
}

export interface PrometheusSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/**
 * Starts Prometheus and waits until it answers; it is gone when the test ends.
 * @param configuration its file, as data
 * @param options beside those that say where it listens and what it keeps
 */
export const startPrometheus = async (
  t: Teardown,
  configuration: unknown,
  options: readonly string[] = [],
): Promise<RunningPrometheus> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-prometheus-'))
  const file = join(dir, 'prometheus.yaml')
  writeFileSync(file, stringify(configuration))
  const address = `127.0.0.1:${await findFreePort()}`
  const own = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ]
  const server = spawn('prometheus', [...own, ...options], { cwd: dir, stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = new Promise(resolve => server.once('exit', resolve).once('error', resolve))
  t.teardown(async () => {
    server.kill('SIGKILL')
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  await eventually(async () => !isRunning(server) || (await fetch(`http://${address}/-/ready`)).ok)
  if (!isRunning(server)) throw new Error('prometheus ended before it was ready')
  return createClient(`http://${address}`)
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null

const answer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
])

const sample = z
  .object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })
  .transform(({ metric, value }): PrometheusSample => ({ labels: metric, value: toNumber(value[1]) }))

const vector = z.object({ resultType: z.literal('vector'), result: z.array(sample) })

const toNumber = (text: string): number => Number(text.replace('Inf', 'Infinity'))

const createClient = (url: string): RunningPrometheus => {
  const ask: RunningPrometheus['ask'] = async (path, parameters = {}) => {
    const response = await fetch(`${url}${path}?${new URLSearchParams(parameters)}`)
    const said = answer.parse(await response.json())
    if (said.status === 'error') throw new Error(`${said.error} (${JSON.stringify(parameters)})`)
    return said.data
  }
  return {
    ask,
    query: async promql => vector.parse(await ask('/api/v1/query', { query: promql })).result,
  }
}
