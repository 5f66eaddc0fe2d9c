import { fork } from 'node:child_process'
import { once } from 'node:events'
import { demoUpstreamFile } from '../install-paths.ts'

/** The parts of the configuration that the greeting and the demo upstream use. */
export interface DemoSetting {
  readonly upstreams: readonly { readonly name: string; readonly targets: readonly string[] }[]
  readonly operations: readonly {
    readonly path: string
    readonly target: { readonly kind: string; readonly serves?: string }
  }[]
}

/** The running demo upstream. */
export interface Demo {
  close(): void
}

/** The user of the demo configuration; a test signs in as this user. */
const demoUser = { username: 'alice', password: 'wonderland' } as const
/** The client's secret if DEMO_CLIENT_SECRET is not set; the configuration has the same default. */
const defaultDemoSecret = 'demo-secret'

/**
 * Starts the service behind the `accounts` upstream of the demo configuration.
 * @throws Error one line with the reason why it cannot listen
 */
export const startDemo = async (config: DemoSetting): Promise<Demo> => {
  const target = config.upstreams.find(upstream => upstream.name === 'accounts')?.targets[0] ?? 'http://127.0.0.1:9000'
  const child = fork(demoUpstreamFile, [target], { stdio: 'inherit' })
  const said = once(child, 'message').then(([message]) => message as { readonly failed?: string })
  const left = once(child, 'disconnect').then(() => ({ failed: 'it ended at once' }))
  const { failed } = await Promise.race([said, left])
  if (failed !== undefined) {
    const reason = failed === 'EADDRINUSE' ? 'the port is taken by another program' : failed
    throw new Error(`the demo upstream cannot listen on ${target}: ${reason}; set SIDEGATE_UPSTREAM to another address`)
  }
  return { close: () => void child.kill('SIGKILL') }
}

/** The greeting of `npm start`: the addresses, the credentials, and three commands to paste. */
export const greeting = (
  config: DemoSetting,
  addresses: { readonly listen: string; readonly admin: string },
): string => {
  const { listen, admin } = { listen: reachable(addresses.listen), admin: reachable(addresses.admin) }
  const secret = process.env.DEMO_CLIENT_SECRET ?? defaultDemoSecret
  const { token = '', metadata = '' } = paths(config)
  return `
  Sidegate is serving.

    gateway   ${listen}
    admin     ${admin}   (/livez /readyz /metrics /version)
    client    demo / ${secret}
    user      ${demoUser.username} / ${demoUser.password}

  Get a token, call the API with it, ask the metadata operation:

    TOKEN=$(curl -s -u demo:${secret} -d grant_type=client_credentials ${listen}${token} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
    curl -i -H "Authorization: Bearer $TOKEN" ${listen}/accounts
    curl -i "${listen}${metadata}?client_id=demo&client_secret=${secret}"

`
}

/** A client cannot connect to the wildcard address that the server listens on. */
const reachable = (url: string): string => url.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:')

/** The first path of each kind of operation in the configuration. */
const paths = (config: DemoSetting): { readonly token?: string; readonly metadata?: string } => {
  const served = config.operations.flatMap(({ target, path }) => (target.serves ? [[target.serves, path]] : []))
  return Object.fromEntries(served.reverse())
}
