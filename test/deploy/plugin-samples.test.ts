/** The samples of the gateways that Sidegate stands beside: each is whole, and what both files say fits together. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { loadConfig, type SidegateConfig } from '../../src/config/load.ts'
import { forwardAuthProxies } from '../../src/gateway/options.ts'
import { samples } from './plugins.ts'

const loadSample = async (gateway: string): Promise<SidegateConfig> => {
  const loaded = await loadConfig(join(samples, gateway, 'sidegate.yaml'), {})
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

const readYaml = (file: string): unknown => parse(readFileSync(join(samples, file), 'utf8'))

/** All that a check says of the caller. */
const identity = ['client-id', 'subject', 'scope', 'grouping', 'assertion'].map(name => `x-sidegate-${name}`)

for (const gateway of forwardAuthProxies) {
  t.test(`Sidegate takes the sample for ${gateway}, and is asked by that gateway alone`, async t => {
    const { operations, issuer, listen } = await loadSample(gateway)

    const asked = operations.flatMap(({ target }) => (target.kind === 'check' ? [target.gateway] : []))
    t.same(asked, [gateway])
    t.ok(operations.some(({ target }) => target.kind === 'elsewhere'))
    t.equal(issuer, 'http://localhost:8000')
    t.equal(listen.port, 8080)
  })
}

const names = z.object({ patterns: z.array(z.object({ exact: z.string() })).readonly() })
const extAuthz = z.object({
  failure_mode_allow: z.boolean(),
  allowed_headers: names,
  http_service: z.object({
    server_uri: z.object({ cluster: z.string() }),
    path_prefix: z.string(),
    authorization_response: z.object({ allowed_upstream_headers: names }),
  }),
})
const envoyRoute = z.object({
  match: z.union([z.object({ path: z.string() }), z.object({ prefix: z.string() })]),
  route: z.object({ cluster: z.string() }),
  typed_per_filter_config: z.record(z.string(), z.object({ disabled: z.boolean() })).optional(),
  request_headers_to_remove: z.array(z.string()).optional(),
})
const connectionManager = z.object({
  use_remote_address: z.boolean(),
  early_header_mutation_extensions: z.array(
    z.object({ typed_config: z.object({ mutations: z.array(z.object({ remove: z.string() })) }) }),
  ),
  http_filters: z.array(z.object({ name: z.string(), typed_config: z.unknown() })),
  route_config: z.object({ virtual_hosts: z.array(z.object({ routes: z.array(envoyRoute) })) }),
})
const envoySample = z.object({
  static_resources: z.object({
    listeners: z.array(
      z.object({
        filter_chains: z.array(z.object({ filters: z.array(z.object({ typed_config: connectionManager })) })),
      }),
    ),
    clusters: z.array(z.object({ name: z.string() })),
  }),
})

t.test('Envoy asks where Sidegate answers, and what it copies is what it removes from a client', async t => {
  const { static_resources } = envoySample.parse(readYaml('envoy/envoy.yaml'))
  const manager = static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config
  const [check, router] = manager?.http_filters ?? []
  const { failure_mode_allow, allowed_headers, http_service } = extAuthz.parse(check?.typed_config)
  const { operations } = await loadSample('envoy')

  t.equal(router?.name, 'envoy.filters.http.router', 'the check comes before it')
  t.ok(operations.some(({ path, target }) => target.kind === 'check' && path === `${http_service.path_prefix}/**`))
  t.equal(failure_mode_allow, false)
  t.equal(manager?.use_remote_address, true)
  const copied = http_service.authorization_response.allowed_upstream_headers.patterns.map(({ exact }) => exact)
  t.same(copied, identity)
  const removed = manager?.early_header_mutation_extensions[0]?.typed_config.mutations.map(({ remove }) => remove)
  t.same(
    [...copied, 'x-sidegate-status'].filter(name => !removed?.includes(name)),
    [],
  )
  t.ok(allowed_headers.patterns.some(({ exact }) => exact === 'x-forwarded-for'))
})

t.test('Envoy lets through unasked what Sidegate serves, and nothing else', async t => {
  const { static_resources } = envoySample.parse(readYaml('envoy/envoy.yaml'))
  const manager = static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config
  const routes = manager?.route_config.virtual_hosts[0]?.routes ?? []
  const clusters = static_resources.clusters.map(({ name }) => name)

  t.ok(routes.every(({ route }) => clusters.includes(route.cluster)))
  const unasked = routes.filter(route => route.typed_per_filter_config?.['envoy.filters.http.ext_authz']?.disabled)
  t.same(
    unasked.map(({ route }) => route.cluster),
    ['sidegate', 'sidegate'],
  )
  const asked = routes.filter(route => !unasked.includes(route))
  t.match(asked, [{ route: { cluster: 'accounts' }, request_headers_to_remove: ['authorization', 'dpop'] }])
})

const traefikSample = z.object({
  http: z.object({
    routers: z.record(z.string(), z.object({ service: z.string(), middlewares: z.array(z.string()) })),
    middlewares: z.object({
      strip: z.object({ headers: z.object({ customRequestHeaders: z.record(z.string(), z.literal('')) }) }),
      check: z.object({
        forwardAuth: z.object({
          address: z.url(),
          trustForwardHeader: z.boolean(),
          authResponseHeadersRegex: z.string(),
          authResponseHeaders: z.array(z.string()),
        }),
      }),
      consume: z.object({ headers: z.object({ customRequestHeaders: z.record(z.string(), z.literal('')) }) }),
    }),
    services: z.record(z.string(), z.unknown()),
  }),
})

t.test('Traefik asks where Sidegate answers, before it forwards and before it removes what Sidegate needs', async t => {
  const { routers, middlewares, services } = traefikSample.parse(readYaml('traefik/dynamic.yaml')).http
  const { address, trustForwardHeader, authResponseHeadersRegex } = middlewares.check.forwardAuth
  const { operations, listen } = await loadSample('traefik')

  t.same(routers.accounts, { service: 'accounts', middlewares: ['strip', 'check', 'consume'] })
  t.same(routers.sidegate?.middlewares, ['strip'])
  t.ok(Object.values(routers).every(({ service }) => service in services))
  const asked = operations.find(({ target }) => target.kind === 'check')
  t.equal(address, `http://127.0.0.1:${listen.port}${asked?.path}`)
  t.equal(trustForwardHeader, false)
  // Go's regular expressions have the flag inside.
  const pattern = new RegExp(authResponseHeadersRegex.replace('(?i)', ''), 'i')
  for (const name of identity) t.match(name, pattern)
  t.match('X_Sidegate_Client_Id', pattern, 'a spelling that some services read alike')
})
