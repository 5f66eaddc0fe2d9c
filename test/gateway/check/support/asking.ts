import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { findFreePort } from '../../../support/free-port.ts'
import { type RunningSidegate, startSidegate, type TestConfig } from '../../../support/sidegate.ts'
import { client, oauth } from '../../support/running.ts'

/** How a gateway asks: the request that it sends to Sidegate. */
export interface Asking {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

export const askingOf = {
  nginx: (method: string, uri: string): Asking => ({
    method: 'GET',
    target: '/check-nginx',
    headers: { 'x-original-method': method, 'x-original-uri': uri },
  }),
  traefik: (method: string, uri: string): Asking => ({
    method: 'GET',
    target: '/check-traefik',
    headers: { 'x-forwarded-method': method, 'x-forwarded-uri': uri },
  }),
  caddy: (method: string, uri: string): Asking => ({
    method: 'GET',
    target: '/check-caddy',
    headers: { 'x-forwarded-method': method, 'x-forwarded-uri': uri },
  }),
  envoy: (method: string, uri: string): Asking => ({ method, target: `/check-envoy${uri}`, headers: {} }),
} as const

export const gateways = ['nginx', 'traefik', 'caddy', 'envoy'] as const
export type Gateway = (typeof gateways)[number]

/** A program that all four gateways may ask, from 127.0.0.1 and no other address; it forwards nothing but `/here`. */
export const startAsked = async (
  t: Parameters<typeof startSidegate>[0],
  upstream: string,
): Promise<RunningSidegate> => {
  const listen = `127.0.0.1:${await findFreePort()}`
  return startSidegate(t, {
    listen,
    issuer: `http://${listen}`,
    store: 'memory:',
    workers: 1,
    trustedProxies: ['127.0.0.1'],
    clientCertificateHeader: 'client-cert',
    plans: { 'default-plan': { rate: '100000/1second' }, small: { rate: '1/1hour' } },
    groupings: [oauth, keys, checks, accounts, signed('assertion'), signed('both'), here],
    upstreams: { here: { targets: [upstream] } },
    clients: [
      client('app', { plan: 'default-plan' }),
      client('small', { plan: 'small' }),
      client('cert', { plan: 'default-plan', tls_client_certificate_bound_access_tokens: true }),
    ],
  })
}

const checks: TestConfig = {
  name: 'Check',
  operations: [
    ...['nginx', 'traefik', 'caddy'].map(gateway => ({
      method: 'GET',
      path: `/check-${gateway}`,
      serves: 'check',
      gateway,
    })),
    { method: '*', path: '/check-envoy/**', serves: 'check', gateway: 'envoy' },
  ],
}

const accounts: TestConfig = {
  name: 'Accounts',
  basePath: '/accounts',
  upstream: 'none',
  operations: [
    { method: 'GET', path: '/**', scopes: ['read'] },
    { method: 'POST', path: '/**', scopes: ['write'] },
    { method: 'GET', path: '/open', credentials: 'none' },
    { method: 'GET', path: '/query', credentials: 'query' },
  ],
}

const keys: TestConfig = {
  name: 'Keys',
  operations: [{ method: 'GET', path: '/jwks', serves: 'jwks' }],
}

const signed = (identity: string): TestConfig => ({
  name: identity,
  basePath: `/${identity}`,
  upstream: 'none',
  identity,
  operations: [
    { method: 'GET', path: '/**' },
    { method: 'GET', path: '/open', credentials: 'none' },
  ],
})

const here: TestConfig = {
  name: 'Here',
  upstream: 'here',
  operations: [{ method: 'GET', path: '/**', credentials: 'none' }],
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/**
 * Sends this request on a connection of its own.
 * @param from the address it comes from: 127.0.0.1 is trusted, 127.0.0.2 is not
 */
export const send = (
  { url }: RunningSidegate,
  { method, target, headers }: Asking,
  more: OutgoingHttpHeaders = {},
  from = '127.0.0.1',
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const all: OutgoingHttpHeaders = { ...headers, ...more }
    const req = request({ host: hostname, port, method, path: target, headers: all, localAddress: from, agent: false })
    req.on('error', reject)
    req.on('response', res => {
      let body = ''
      res.setEncoding('utf8').on('data', text => {
        body += text
      })
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }))
      res.on('error', reject)
    })
    req.end()
  })
