import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findFreePort } from '../../support/free-port.ts'
import { childrenOf } from '../../support/memory.ts'
import { answers, cores, type Programs } from '../program.ts'

const sidegate = join(import.meta.dirname, '../../../src/sidegate.cjs')

/** A gateway with one worker that forwards whatever comes, on the measured core. */
export interface StressedGateway {
  readonly origin: string
  /** Of the admin port. */
  readonly admin: string
  readonly workerPid: number
}

/** Starts it with the access log and everything else as it is where nobody says anything, and its upstream behind it. */
export const startStressedGateway = async (programs: Programs, dir: string): Promise<StressedGateway> => {
  const [port, adminPort, upstreamPort] = [await findFreePort(), await findFreePort(), await findFreePort()]
  const upstream = `http://127.0.0.1:${upstreamPort}`
  await programs.start({
    name: 'upstream',
    core: cores.load,
    command: [process.execPath, join(import.meta.dirname, 'upstream.ts'), `${upstreamPort}`],
    readyWhen: () => answers(upstream),
  })
  const [origin, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`]
  const folder = join(dir, 'sidegate')
  mkdirSync(folder)
  const file = join(folder, 'sidegate.yaml')
  writeFileSync(file, stringify(toConfig(port, adminPort, upstream)))
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

const toConfig = (port: number, adminPort: number, upstream: string): object => ({
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers: 1,
  store: 'memory:',
  plans: { stress: { rate: '1000000/1second' } },
  groupings: [
    {
      name: 'Stress',
      upstream: 'service',
      operations: ['GET', 'POST'].map(method => ({ method, path: '/**', credentials: 'none', plan: 'none' })),
    },
  ],
  upstreams: { service: { targets: [upstream] } },
  shutdown: { delay: '0s', timeout: '1s' },
})
