import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import { answers, cores, type Programs, type Served } from './program.ts'

const checkoutProgram = join(import.meta.dirname, '../../src/sidegate.cjs')

const secret = 'load-secret-0123456789abcdef'

/** How a client of the load proves itself (RFC 6749 section 2.3.1). */
const basicAuthOf = (client_id: string): string => `Basic ${Buffer.from(`${client_id}:${secret}`).toString('base64')}`

/** The names of so many clients. */
const clientIds = (count: number): readonly string[] => Array.from({ length: count }, (_, nth) => `load-${nth + 1}`)

const [onlyClient = ''] = clientIds(1)
export const basicAuth = basicAuthOf(onlyClient)

export interface GatewayStart {
  readonly name: string
  readonly upstream: string
  readonly store: string
  /** `warn` leaves the access log out. */
  readonly logLevel: 'info' | 'warn'
  /** The launcher. Left out: that of this checkout. */
  readonly program?: string | undefined
  /** How many it has, each with a plan to itself. Left out: one. */
  readonly clients?: number
  /** How many it has beside those under load. Left out: none. */
  readonly operations?: number
  readonly dir: string
}

export interface StartedGateway extends Served {
  /** From the start of the program until it said that it was ready. */
  readonly readyMs: number
}

/** Starts Sidegate with one worker on the measured core. */
export const startGateway = async (programs: Programs, start: GatewayStart): Promise<StartedGateway> => {
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const dir = join(start.dir, start.name)
  mkdirSync(dir)
  const file = join(dir, 'sidegate.json')
  writeFileSync(file, JSON.stringify(toConfig(start, port, adminPort)))
  const startedAtMs = performance.now()
  const pid = await programs.start({
    name: start.name,
    core: cores.measured,
    command: [process.execPath, start.program ?? checkoutProgram, 'serve', '--config', file],
    env: { LOG_LEVEL: start.logLevel },
    readyWhen: () => answers(`http://127.0.0.1:${adminPort}/readyz`),
  })
  const readyMs = performance.now() - startedAtMs
  console.error(`${start.name} was ready after ${(readyMs / 1000).toFixed(1)} s`)
  return { origin: `http://127.0.0.1:${port}`, pid, readyMs }
}

const toConfig = (
  { upstream, store, clients = 1, operations = 0 }: GatewayStart,
  port: number,
  adminPort: number,
): object => ({
  issuer: `http://127.0.0.1:${port}`,
  listen: `127.0.0.1:${port}`,
  admin: `127.0.0.1:${adminPort}`,
  workers: 1,
  store,
  product: { name: 'load', title: 'Load', version: '1.0.0' },
  // Far above what one core can do: every request is counted and none is refused.
  plans: { load: { title: 'Load', rate: '1000000/1second' } },
  // Longer than any run: the many tokens of a row are fetched once.
  tokens: { accessToken: { lifetime: '1h' } },
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
        ...Array.from({ length: operations }, (_, nth) => ({ method: 'GET', path: `/service-${nth}/*/items` })),
      ],
    },
  ],
  upstreams: { accounts: { targets: [upstream] } },
  clients: clientIds(clients).map(client_id => ({
    client_id,
    client_secret: secret,
    client_name: 'Load',
    grant_types: ['client_credentials'],
    scope: 'accounts:read',
  })),
  shutdown: { delay: '0s', timeout: '1s' },
})

/** A token for the guarded operations. Throws when the gateway issues none. */
export const fetchToken = async (origin: string, client_id = onlyClient): Promise<string> => {
  const response = await fetch(`${origin}/token`, {
    method: 'POST',
    headers: { authorization: basicAuthOf(client_id) },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const body = (await response.json()) as { access_token?: unknown }
  if (typeof body.access_token !== 'string') throw new Error(`no token was issued: ${response.status}`)
  return body.access_token
}

/** How many tokens are asked for at the same time. */
const fetchedAtOnce = 50

/** A token for each client of a gateway that has so many. Throws when it issues one too few. */
export const fetchTokens = async (origin: string, clients: number): Promise<readonly string[]> => {
  const tokens: string[] = []
  for (let from = 0; from < clients; from += fetchedAtOnce) {
    const ids = clientIds(clients).slice(from, from + fetchedAtOnce)
    tokens.push(...(await Promise.all(ids.map(client_id => fetchToken(origin, client_id)))))
  }
  return tokens
}
