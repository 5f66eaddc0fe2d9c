import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { eventually } from './eventually.ts'
import { findFreePort } from './free-port.ts'

/** A real Redis in a folder and on a port of its own. */
export interface RunningRedis {
  /** e.g. `redis://127.0.0.1:41234` */
  readonly url: string
  readonly port: number
  /** A client for the test's own questions, closed when the test ends. */
  readonly client: Redis
  /** Ends it at once, as `kill -9` does, and resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again, empty, on the same port; resolves when it answers. */
  start(): Promise<void>
  /** Keeps it from answering without closing a connection, until `resume`. */
  pause(): void
  resume(): void
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** Starts redis-server and waits until it answers; it is gone when the test ends. */
export const startRedis = async (
  t: Teardown,
  extraArguments: readonly string[] = [],
  configFile?: string,
): Promise<RunningRedis> => {
  const port = await findFreePort()
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-redis-'))
  const client = new Redis({ port, lazyConnect: true, retryStrategy: () => 20, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  let server: ChildProcess | undefined
  const start = async (): Promise<void> => {
    const options = configFile === undefined ? serverArguments(port, dir) : [configFile, '--port', String(port)]
    server = spawn('redis-server', [...options, ...extraArguments], { stdio: 'ignore' })
    await eventually(async () => (await client.ping()) === 'PONG')
  }
  const kill = async (): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = new Promise(resolve => server?.once('exit', resolve))
    server.kill('SIGKILL')
    await exited
  }
  t.teardown(async () => {
    client.disconnect()
    await kill()
    rmSync(dir, { recursive: true, force: true })
  })
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    client,
    kill,
    start,
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
  }
}

const serverArguments = (port: number, dir: string): readonly string[] => [
  '--port',
  String(port),
  '--bind',
  '127.0.0.1',
  '--dir',
  dir,
  '--save',
  '',
  '--appendonly',
  'no',
]

/** Starts a Sentinel that watches the primary on this port under the name `fleet`, and fails over within a second. */
export const startSentinel = async (t: Teardown, primaryPort: number): Promise<RunningRedis> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-sentinel-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'sentinel.conf')
  const lines = [
    `sentinel monitor fleet 127.0.0.1 ${primaryPort} 1`,
    'sentinel down-after-milliseconds fleet 500',
    'sentinel failover-timeout fleet 2000',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return startRedis(t, ['--sentinel'], file)
}
