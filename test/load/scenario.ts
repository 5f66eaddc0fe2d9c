import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import { basicAuth, fetchToken, fetchTokens, startGateway } from './gateway.ts'
import { startForwarder, startUpstream } from './nginx.ts'
import { startLuaGateway } from './nginx-lua/lua-gateway.ts'
import { tokenOfLoad, verifyPolicy } from './nginx-lua/verify-policy.ts'
import { answers, cores, type Programs, type Served } from './program.ts'
import { startRedis } from './redis.ts'
import type { Load } from './wrk.ts'

/** One row of the table: something that serves, and the load it is put under. */
export interface Scenario {
  readonly name: string
  readonly title: string
  /** The least requests per second in relation to other rows of the same run. Left out: a competitor. */
  readonly goals?: Readonly<Partial<Record<typeof baseline | typeof rival, number>>>
  /** Starts what serves, the first time. */
  readonly load: () => Promise<Load>
}

/** The row that all others are compared with; measured in every run. */
export const baseline = 'http-proxy'

/** The row that does the same work as `everything`. */
export const rival = 'nginx-lua'

/** Of the row with a plan for each. */
const manyClients = 5000

/**
 * All rows, in the order of the table. Started programs keep running, because an idle one takes nothing from the one
 * under load.
 * @param program the launcher of another Sidegate; left out: that of this checkout
 */
export const createScenarios = (programs: Programs, dir: string, program?: string): readonly Scenario[] => {
  const upstream = lazy(async () => (await startUpstream(programs, dir, cores.load)).origin)
  const nginx = lazy(async () => startForwarder(programs, dir, cores.measured, await upstream()))
  const bareProxy = lazy(async () => startBare(programs, 'bare-proxy.ts', await upstream()))
  const bareUndici = lazy(async () => startBare(programs, 'bare-undici.ts', await upstream()))
  const luaGateway = lazy(async () => {
    const redis = await startRedis(programs)
    const gateway = await startLuaGateway(programs, { upstream: await upstream(), redis, dir })
    await verifyPolicy(gateway, redis)
    return { ...gateway, token: tokenOfLoad(gateway) }
  })
  // Like the two it is compared with, it writes no access log here.
  const open = lazy(async () =>
    startGateway(programs, {
      program,
      name: 'sidegate-open',
      upstream: await upstream(),
      store: `sqlite:${dir}/open.db`,
      logLevel: 'warn',
      dir,
    }),
  )
  const whole = lazy(async () =>
    startGateway(programs, {
      program,
      name: 'sidegate',
      upstream: await upstream(),
      store: await startRedis(programs),
      logLevel: 'info',
      dir,
    }),
  )
  const shared = lazy(async () =>
    startGateway(programs, {
      program,
      name: 'sidegate-shared',
      upstream: await upstream(),
      store: await startRedis(programs),
      logLevel: 'info',
      clients: manyClients,
      dir,
    }),
  )
  const large = lazy(async () =>
    startGateway(programs, {
      program,
      name: 'sidegate-large',
      upstream: await upstream(),
      store: await startRedis(programs),
      logLevel: 'info',
      clients: 100_000,
      operations: 10_000,
      dir,
    }),
  )
  const tokensFile = lazy(async () => {
    const file = join(dir, 'tokens')
    writeFileSync(file, (await fetchTokens((await shared()).origin, manyClients)).join('\n'))
    return file
  })
  return [
    { name: 'nginx', title: 'nginx, proxy_pass', load: async () => get(await nginx(), '/open/1') },
    { name: baseline, title: 'http-proxy, bare', load: async () => get(await bareProxy(), '/open/1') },
    { name: 'undici', title: 'undici, bare', load: async () => get(await bareUndici(), '/open/1') },
    {
      name: rival,
      title: 'nginx, with everything in Lua',
      load: async () => {
        const { token, ...served } = await luaGateway()
        return get(served, '/guarded/1', { authorization: `Bearer ${token}` })
      },
    },
    {
      name: 'open',
      title: 'Sidegate, without policy',
      goals: { [baseline]: 3.8 },
      load: async () => get(await open(), '/open/1'),
    },
    {
      name: 'everything',
      title: 'Sidegate, with everything',
      goals: { [baseline]: 3, [rival]: 1.1 },
      load: async () =>
        get(await whole(), '/guarded/1', { authorization: `Bearer ${await fetchToken((await whole()).origin)}` }),
    },
    {
      name: 'clients',
      title: 'Sidegate, with everything, 5,000 clients',
      goals: { [baseline]: 2.2 },
      load: async () => ({ ...get(await shared(), '/guarded/1'), tokensFile: await tokensFile() }),
    },
    {
      name: 'large',
      title: 'Sidegate, with everything, 10,000 operations, 100,000 clients',
      goals: { [baseline]: 1.7 },
      load: async () =>
        get(await large(), '/guarded/1', { authorization: `Bearer ${await fetchToken((await large()).origin)}` }),
    },
    {
      name: 'tokens',
      title: 'Sidegate, tokens',
      goals: { [baseline]: 1.05 },
      load: async () => postForm(await whole(), '/token', { grant_type: 'client_credentials' }),
    },
    {
      name: 'introspection',
      title: 'Sidegate, introspection',
      goals: { [baseline]: 2 },
      load: async () => postForm(await whole(), '/introspect', { token: await fetchToken((await whole()).origin) }),
    },
  ]
}

/** Does the work at the first call; later calls share what came of it. */
const lazy = <T>(work: () => Promise<T>): (() => Promise<T>) => {
  let result: Promise<T> | undefined
  return () => {
    result ??= work()
    return result
  }
}

const startBare = async (programs: Programs, file: string, upstream: string): Promise<Served> => {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const pid = await programs.start({
    name: file,
    core: cores.measured,
    command: [process.execPath, join(import.meta.dirname, file), `${port}`, upstream],
    readyWhen: () => answers(origin),
  })
  return { origin, pid }
}

const get = ({ origin, pid }: Served, path: string, headers: Readonly<Record<string, string>> = {}): Load => ({
  pid,
  url: `${origin}${path}`,
  method: 'GET',
  headers,
  body: '',
})

const postForm = ({ origin, pid }: Served, path: string, form: Readonly<Record<string, string>>): Load => ({
  pid,
  url: `${origin}${path}`,
  method: 'POST',
  headers: { authorization: basicAuth, 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(form).toString(),
})
