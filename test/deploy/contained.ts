import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/** The mounts into the image's root, as of a container engine. */
export interface Mounts {
  /** The folder with the configuration, to be read alone. */
  readonly config: string
  /** The one folder that may be written. */
  readonly data: string
}

/** A container engine makes these itself; bubblewrap cannot, in a root that is only to be read. */
export const makeMountPoints = (root: string): void => {
  for (const folder of ['proc', 'dev', 'etc/sidegate']) mkdirSync(join(root, folder), { recursive: true })
}

/** Root and processes are the image's own; the network is that of the machine, so that the test can ask. */
const confine = (root: string, { config, data }: Mounts): readonly string[] => [
  ...['--unshare-user', '--uid', '65532', '--gid', '65532', '--cap-drop', 'ALL'],
  ...['--unshare-pid', '--as-pid-1', '--die-with-parent', '--clearenv'],
  ...['--ro-bind', root, '/', '--proc', '/proc', '--dev', '/dev'],
  ...['--ro-bind', config, '/etc/sidegate', '--bind', data, '/data', '--chdir', '/data'],
]

/** Runs a command in the image to its end. */
export const runContained = (root: string, mounts: Mounts, env: Environment, command: readonly string[]) =>
  spawnSync('bwrap', [...confine(root, mounts), ...toArguments(env), ...command], { encoding: 'utf8' })

type Environment = Readonly<Record<string, string>>

const toArguments = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])

const info = z.object({ 'child-pid': z.number() })

/** Starts a command as process 1 of the image, and says under which id this machine knows it. */
export const startContained = async (
  root: string,
  mounts: Mounts,
  env: Environment,
  command: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly pid: number }> => {
  const child = spawn('bwrap', ['--info-fd', '3', ...confine(root, mounts), ...toArguments(env), ...command], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const [, , , told] = child.stdio
  if (!(told instanceof Readable)) throw new Error('bwrap says nothing of what it started')
  return { child, pid: info.parse(JSON.parse(await text(told)))['child-pid'] }
}
