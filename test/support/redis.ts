import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis, type RedisOptions } from 'ioredis'
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
  /** Starts it again, empty, on the same port, if it is not running; resolves when it answers. */
  start(): Promise<void>
  /** Keeps it from answering without closing a connection, until `resume`. */
  pause(): void
  resume(): void
}

interface Teardown {
  teardown(handler: () => unknown): unknown
}

export interface RedisWishes {
  /** A configuration that takes the place of the arguments that a Redis without one gets. */
  readonly configFile?: string
  /** The TLS options and credentials of the test's own client. */
  readonly client?: Pick<RedisOptions, 'tls' | 'username' | 'password'>
  /** Says on which port it listens; default `--port`. */
  readonly portOption?: '--tls-port'
}

/** Starts redis-server and waits until it answers; it is gone when the test ends. */
export const startRedis = async (
  t: Teardown,
  extraArguments: readonly string[] = [],
  wishes: RedisWishes = {},
): Promise<RunningRedis> => {
  const port = await findFreePort()
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-redis-'))
  const patience = { lazyConnect: true, retryStrategy: () => 20, maxRetriesPerRequest: null }
  const client = new Redis({ ...patience, port, host: '127.0.0.1', ...wishes.client })
  client.on('error', () => undefined)
  let server: ChildProcess | undefined
  const isRunning = (): boolean => server !== undefined && server.exitCode === null && server.signalCode === null
  const spawnServer = (): ChildProcess => {
    const own = wishes.configFile === undefined ? serverArguments(dir) : [wishes.configFile]
    const options = [...own, wishes.portOption ?? '--port', String(port)]
    return spawn('redis-server', [...options, ...extraArguments], { stdio: 'ignore' })
  }
  // While it was stopped, another connection may have taken its port: then it ends at once, and is started again.
  const start = async (): Promise<void> => {
    if (isRunning()) return
    await eventually(async () => {
      const running = server !== undefined && isRunning() ? server : spawnServer()
      server = running
      const ended = new Promise(resolve => running.once('exit', resolve))
      return (await Promise.race([client.ping(), ended])) === 'PONG'
    })
  }
  const kill = async (): Promise<void> => {
    if (!isRunning()) return
    const exited = new Promise(resolve => server?.once('exit', resolve))
    server?.kill('SIGKILL')
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

const serverArguments = (dir: string): readonly string[] => [
  '--bind',
  '127.0.0.1',
  '--dir',
  dir,
  '--save',
  '',
  '--appendonly',
  'no',
]

/** Further options of Sentinels, besides the primary to watch. */
export interface SentinelWishes extends RedisWishes {
  /** Lines of the configuration, such as `requirepass …`. */
  readonly lines?: readonly string[]
  /** How many must agree that the primary is gone. Default 1. */
  readonly quorum?: number
  readonly extraArguments?: readonly string[]
}

/** Starts a Sentinel that watches the primary on this port under the name `fleet`, and fails over within a second. */
export const startSentinel = async (
  t: Teardown,
  primaryPort: number,
  { lines = [], quorum = 1, extraArguments = [], ...wishes }: SentinelWishes = {},
): Promise<RunningRedis> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-sentinel-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const configFile = join(dir, 'sentinel.conf')
  const watch = [
    `sentinel monitor fleet 127.0.0.1 ${primaryPort} ${quorum}`,
    'sentinel down-after-milliseconds fleet 500',
    'sentinel failover-timeout fleet 2000',
    ...lines,
  ]
  writeFileSync(configFile, `${watch.join('\n')}\n`)
  return startRedis(t, ['--sentinel', ...extraArguments], { ...wishes, configFile })
}
