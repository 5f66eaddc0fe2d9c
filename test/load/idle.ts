/**
 * Measures a gateway without requests: the time from its start until it is ready, and then its share of a core and
 * its memory, for the primary and each worker. Ends by itself and leaves nothing behind. `npx node test/load/idle.ts
 * --seconds 60`
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { childrenOf, residentMiB, residentMiBTogether } from '../support/memory.ts'
import { toCount } from './count.ts'
import { toMarkdownTable } from './markdown-table.ts'
import { cpuMsOf } from './process-usage.ts'
import { answers, cores, Programs } from './program.ts'
import { startRedis } from './redis.ts'

const root = join(import.meta.dirname, '../..')

/** The stores that can be chosen, and what starts one. */
const stores = {
  sqlite: async (_programs: Programs, dir: string) => `sqlite:${join(dir, 'sidegate.db')}`,
  redis: async (programs: Programs, _dir: string) => startRedis(programs),
} as const
type StoreName = keyof typeof stores

interface IdleOptions {
  readonly seconds: number
  readonly workers: number
  readonly stores: readonly StoreName[]
  /** Which Sidegate: another checkout's `src/sidegate.cjs`, to compare. */
  readonly program: string
}

interface Measured {
  readonly name: string
  /** Of one core, in percent. */
  readonly corePercent: number
  readonly residentMiB: number
}

/** A start is over: its compilation, the first polls, and the collections of what it left behind. */
const settleMs = 5000

const main = async (): Promise<void> => {
  const options = parseIdleOptions(process.argv.slice(2))
  for (const store of options.stores) await measureStore(store, options)
}

const parseIdleOptions = (args: readonly string[]): IdleOptions => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '60' },
      workers: { type: 'string', default: '2' },
      program: { type: 'string', default: join(root, 'src/sidegate.cjs') },
    },
  })
  return {
    seconds: toCount(values.seconds),
    workers: toCount(values.workers),
    program: values.program,
    stores: positionals.length === 0 ? ['sqlite', 'redis'] : positionals.map(toStoreName),
  }
}

const toStoreName = (name: string): StoreName => {
  if (name in stores) return name as StoreName
  throw new TypeError(`unknown store: ${name}; there are ${Object.keys(stores).join(' and ')}`)
}

const measureStore = async (name: StoreName, options: IdleOptions): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-idle-'))
  try {
    await using programs = new Programs()
    const store = await stores[name](programs, dir)
    const config = await writeConfig(dir, { store, workers: options.workers })
    const startedAtMs = performance.now()
    const primary = await programs.start({
      name: 'sidegate',
      core: cores.all,
      command: [process.execPath, options.program, 'serve', '--config', config.file],
      readyWhen: () => answers(`${config.adminUrl}/readyz`),
    })
    const readyMs = performance.now() - startedAtMs
    const processes = [primary, ...childrenOf(primary)]
    const startCpuMs = sum(processes.map(cpuMsOf))
    console.error(`${name}: ready after ${Math.round(readyMs)} ms, with ${Math.round(startCpuMs)} ms of CPU`)
    await sleep(settleMs)
    print(name, await measureProcesses(processes, options.seconds), processes)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** The configuration of `npm start`, with a store, ports and workers of this run. */
const writeConfig = async (dir: string, { store, workers }: { readonly store: string; readonly workers: number }) => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const text = readFileSync(join(root, 'config/sidegate.yaml'), 'utf8').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
  const config = {
    ...parse(text),
    issuer: `http://127.0.0.1:${port}`,
    listen: `127.0.0.1:${port}`,
    admin: `127.0.0.1:${adminPort}`,
    store,
    workers,
    shutdown: { delay: '0s', timeout: '1s' },
  }
  const file = join(dir, 'sidegate.json')
  writeFileSync(file, JSON.stringify(config))
  return { file, adminUrl: `http://127.0.0.1:${adminPort}` }
}

const measureProcesses = async (processes: readonly number[], seconds: number): Promise<readonly Measured[]> => {
  const before = processes.map(cpuMsOf)
  const beganAtMs = performance.now()
  await sleep(seconds * 1000)
  const after = processes.map(cpuMsOf)
  const tookMs = performance.now() - beganAtMs
  return processes.map((pid, nth) => ({
    name: nth === 0 ? 'primary' : `worker ${nth}`,
    corePercent: (100 * ((after[nth] ?? 0) - (before[nth] ?? 0))) / tookMs,
    residentMiB: residentMiB(pid),
  }))
}

const print = (store: StoreName, measured: readonly Measured[], processes: readonly number[]): void => {
  const all: Measured = {
    name: 'all',
    corePercent: sum(measured.map(({ corePercent }) => corePercent)),
    residentMiB: residentMiBTogether(processes),
  }
  const rows = [...measured, all].map(({ name, corePercent, residentMiB }) => [
    name,
    `${corePercent.toFixed(3)} %`,
    `${residentMiB.toFixed(0)} MiB`,
  ])
  console.log(`${toMarkdownTable([store, 'Of one core', 'Memory'], rows)}\n`)
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

await main()
