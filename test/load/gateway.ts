import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { answers, cores, type Programs } from './program.ts'

const sidegate = join(import.meta.dirname, '../../src/sidegate.cjs')

/** The one client of the load, and how it proves itself (RFC 6749 section 2.3.1). */
const client = { id: 'load', secret: 'load-secret-0123456789abcdef' } as const
export const basicAuth = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`

export interface GatewayStart {
  readonly name: string
  readonly upstream: string
  readonly store: string
  /** `warn` leaves the access log out. */
  readonly logLevel: 'info' | 'warn'
  readonly dir: string
}

/** Starts Sidegate with one worker on the measured core. Resolves to the origin of its traffic. */
export const startGateway = async (programs: Programs, start: GatewayStart): Promise<string> => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const dir = join(start.dir, start.name)
  mkdirSync(dir)
  const file = join(dir, 'sidegate.yaml')
  writeFileSync(file, stringify(toConfig(start, port, adminPort)))
  await programs.start({
    name: start.name,
    core: cores.measured,
    command: [process.execPath, sidegate, 'serve', '--config', file],
    env: { LOG_LEVEL: start.logLevel },
    readyWhen: () => answers(`http://127.0.0.1:${adminPort}/readyz`),
  })
  return `http://127.0.0.1:${port}`
}

const toConfig = ({ upstream, store }: GatewayStart, port: number, adminPort: number): object => ({
  issuer: `http://127.0.0.1:${port}`,
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers: 1,
  store,
  product: { name: 'load', title: 'Load', version: '1.0.0' },
  // Far above what one core can do: every request is counted and none is refused.
  plans: { load: { title: 'Load', rate: '1000000/1second' } },
  groupings: [
    {
      name: 'OAuth',
      version: '1.0.0',
      operations: [
        { method: 'POST', path: '/token', serves: 'token' },
        { method: 'POST', path: '/introspect', serves: 'introspect' },
        { method: 'GET', path: '/.well-known/jwks.json', serves: 'jwks', plan: 'none' },
      ],
    },
    {
      name: 'Accounts',
      version: '1.0.0',
      upstream: 'accounts',
      operations: [
        { method: 'GET', path: '/open/**', credentials: 'none', plan: 'none' },
        { method: 'GET', path: '/guarded/**', scopes: ['accounts:read'] },
      ],
    },
  ],
  upstreams: { accounts: { targets: [upstream] } },
  clients: [
    {
      client_id: client.id,
      client_secret: client.secret,
      client_name: 'Load',
      grant_types: ['client_credentials'],
      scope: 'accounts:read',
    },
  ],
  shutdown: { delay: '0s', timeout: '1s' },
})

/** A token for the guarded operations. Throws when the gateway issues none. */
export const fetchToken = async (origin: string): Promise<string> => {
  const response = await fetch(`${origin}/token`, {
    method: 'POST',
    headers: { authorization: basicAuth },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const body = (await response.json()) as { access_token?: unknown }
  if (typeof body.access_token !== 'string') throw new Error(`no token was issued: ${response.status}`)
  return body.access_token
}
