import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { type RecordingUpstream, startStrictUpstream } from '../support/recording-upstream.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../support/sidegate.ts'

export const samples = join(import.meta.dirname, '../../deploy/plugins')

interface Teardown {
  teardown(handler: () => unknown): unknown
}

/** A gateway that forwards by itself and asks Sidegate first, both from the samples, before a recording service. */
export interface Plugged {
  /** Origin of the gateway that clients see. */
  readonly url: string
  readonly sidegate: RunningSidegate
  readonly service: RecordingUpstream
}

/** How a gateway runs a sample that stands in this folder. */
export interface GatewayProgram {
  /** The sample's file below the folder of the gateway. */
  readonly sample: string
  command(folder: string): readonly string[]
  /** Further files that it needs in the folder. */
  readonly files?: Readonly<Record<string, string>>
}

export const nginx: GatewayProgram = {
  sample: 'nginx/sidegate.conf',
  command: folder => ['nginx', '-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
  files: {
    'nginx.conf': [
      'daemon off;',
      // As root nginx would change to a user that cannot read the temporary folder.
      process.getuid?.() === 0 ? 'user root;' : '',
      'worker_processes 1;',
      'pid nginx.pid;',
      'error_log stderr crit;',
      'events { worker_connections 256; }',
      'http {',
      '  access_log off;',
      // Its usual folders are writable for root alone.
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `  ${name}_temp_path ${name};`),
      '  include sidegate.conf;',
      '}',
    ].join('\n'),
  },
}

export const caddy: GatewayProgram = {
  sample: 'caddy/Caddyfile',
  command: folder => ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
}

/** The sample's configuration of Sidegate, which may be changed, and the sample itself: only addresses are others. */
export const startPlugged = async (
  t: Teardown,
  program: GatewayProgram,
  change: (config: TestConfig) => TestConfig,
): Promise<Plugged> => {
  const service = await startStrictUpstream(t)
  const port = String(await findFreePort())
  const folder = program.sample.replace(/\/.*/, '')
  const { listen, admin, store, ...config } = parse(
    readFileSync(join(samples, folder, 'sidegate.yaml'), 'utf8').replaceAll('8000', port),
  )
  const sidegate = await startSidegate(t, { ...change(config), store: 'memory:', workers: 1 })
  const ports = { '8000': port, '8080': new URL(sidegate.url).port, '9000': new URL(service.url).port }
  const sample = readFileSync(join(samples, program.sample), 'utf8').replace(
    /\b(?:8000|8080|9000)\b/g,
    shown => ports[shown as keyof typeof ports],
  )
  const url = `http://127.0.0.1:${port}`
  await startProgram(t, program, sample, url)
  return { url, sidegate, service }
}

const startProgram = async (t: Teardown, program: GatewayProgram, sample: string, url: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'sidegate-plugin-'))
  const name = program.sample.replace(/.*\//, '')
  for (const [file, text] of Object.entries({ ...program.files, [name]: sample }))
    writeFileSync(join(folder, file), text)
  const [command = '', ...args] = program.command(folder)
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines: string[] = []
  child.stderr.on('data', text => lines.push(String(text)))
  t.teardown(async () => {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${command} ended: ${lines.join('')}`)
  })
  await Promise.race([ended, eventually(() => fetch(url))])
  ended.catch(() => undefined)
}

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
