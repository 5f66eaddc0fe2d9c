import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findFreePort } from '../../support/free-port.ts'
import { childrenOf } from '../../support/memory.ts'
import { answers, cores, type Programs } from '../program.ts'
import { quietNode } from './quiet-node.ts'

const sidegate = join(import.meta.dirname, '../../../src/sidegate.cjs')

/** A gateway with one worker that forwards whatever comes, on the measured core. */
export interface StressedGateway {
  readonly origin: string
  /** Of the admin port. */
  readonly admin: string
  readonly workerPid: number
}

/** Starts it with the access log and all other settings at their defaults, and its upstream behind it. */
export const startStressedGateway = async (programs: Programs, dir: string): Promise<StressedGateway> => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const upstreams = {
    service: await startUpstream(programs, '--other'),
    stressed: await startUpstream(programs, '--idle'),
  }
  const [origin, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`]
  const folder = join(dir, 'sidegate')
  mkdirSync(folder)
  const file = join(folder, 'sidegate.yaml')
  writeFileSync(file, stringify(toConfig(port, adminPort, upstreams)))
  const pid = await programs.start({
    name: 'sidegate',
    core: cores.measured,
    command: [process.execPath, sidegate, 'serve', '--config', file],
    readyWhen: () => answers(`${admin}/readyz`),
  })
  const [workerPid] = childrenOf(pid)
  if (workerPid === undefined) throw new Error('sidegate has no worker')
  return { origin, admin, workerPid }
}

/** @param priority `--idle`: what it takes of the core that it shares must not look like a slow gateway */
const startUpstream = async (programs: Programs, priority: '--other' | '--idle'): Promise<string> => {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  await programs.start({
    name: 'upstream',
    core: cores.load,
    command: ['chrt', priority, '0', ...quietNode, join(import.meta.dirname, 'upstream.ts'), `${port}`],
    readyWhen: () => answers(url),
  })
  return url
}

/** Below `/a` is what others ask for; what attacks go through has an upstream of its own. */
const toConfig = (port: number, adminPort: number, upstreams: Readonly<Record<string, string>>): object => ({
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers: 1,
  store: 'memory:',
  plans: { stress: { rate: '1000000/1second' } },
  groupings: [grouping('Service', 'service', '/a/**'), grouping('Stress', 'stressed', '/**')],
  upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, url]) => [name, { targets: [url] }])),
  shutdown: { delay: '0s', timeout: '1s' },
})

const grouping = (name: string, upstream: string, path: string): object => ({
  name,
  upstream,
  operations: ['GET', 'POST'].map(method => ({ method, path, credentials: 'none', plan: 'none' })),
})
