/** No container engine is needed to see that what the files of deploy/compose name is there. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { loadConfig } from '../../src/config/load.ts'
import { parseDurationMs } from '../../src/config/values/units.ts'
import { parseRedisAddress } from '../../src/stores/store-url.ts'
import { findSchemaProblems, folder, readProject, readYaml, toMount, toPublished } from './compose/project.ts'
import { readStages, toExecForm } from './dockerfile.ts'

const project = readProject()
const { sidegate, accounts, redis, prometheus, jaeger, grafana } = project.services
const services = Object.entries(project.services)

const loaded = await loadConfig(join(folder, 'sidegate/sidegate.yaml'), { DEMO_CLIENT_SECRET: 'a-secret' })
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
const { config } = loaded

/** The ports that a service listens on, as its own configuration says, or else the defaults of its image. */
const listening: Readonly<Record<string, readonly number[]>> = {
  sidegate: [config.listen.port, config.admin.port],
  accounts: [Number(new URL(accounts.entrypoint.at(-1) ?? '').port)],
  redis: [6379],
  prometheus: [9090],
  // OTLP over HTTP, and what Grafana asks.
  jaeger: [4318, 16686],
  grafana: [3000],
}

t.test('the file is what Compose takes', async t => {
  t.same(findSchemaProblems(readYaml('compose.yaml')), [])
})

t.test('a name that Compose does not know is found', async t => {
  t.same(findSchemaProblems({ services: { a: { image: 'a', prots: [] } } }), ['services.a: Unrecognized key: "prots"'])
})

t.test('every path that is mounted or built from exists, and every volume is declared', async t => {
  for (const [name, { volumes, build }] of services) {
    for (const { source } of volumes.map(toMount)) {
      t.ok(source.startsWith('.') ? existsSync(join(folder, source)) : source in project.volumes, `${name}: ${source}`)
    }
    if (build !== undefined) t.ok(existsSync(join(folder, build.context, build.dockerfile)), name)
  }
})

t.test('every port that is published is one that the service listens on, for this machine alone', async t => {
  for (const [name, { ports }] of services) {
    for (const { host, own } of ports.map(toPublished)) {
      t.equal(host, '127.0.0.1', name)
      t.ok(listening[name]?.includes(own), `${name}: ${own}`)
    }
  }
})

t.test('no two services are published on the same port', async t => {
  const published = services.flatMap(([, { ports }]) => ports.map(port => port.split(':')[1]))

  t.same(published, [...new Set(published)])
})

const isServiceAt = (name: string, port: number): boolean => listening[name]?.includes(port) === true

t.test('the gateway finds its store and the service behind it', async t => {
  const address = config.store.kind === 'redis' ? parseRedisAddress(config.store) : undefined
  const targets = config.upstreams.flatMap(upstream => upstream.targets).map(target => new URL(target))

  t.ok(address !== undefined && 'hosts' in address)
  if (address !== undefined && 'hosts' in address) {
    t.ok(address.hosts.every(({ host, port }) => isServiceAt(host, port)))
  }
  t.ok(targets.length > 0 && targets.every(({ hostname, port }) => isServiceAt(hostname, Number(port))))
})

const scrapes = z.object({
  rule_files: z.array(z.string()),
  global: z.object({ scrape_interval: z.string() }),
  scrape_configs: z.array(z.object({ static_configs: z.array(z.object({ targets: z.array(z.string()) })) })),
})

const source = z.object({
  uid: z.string(),
  type: z.string(),
  url: z.url(),
  jsonData: z
    .object({
      timeInterval: z.string(),
      exemplarTraceIdDestinations: z.array(z.object({ name: z.literal('trace_id'), datasourceUid: z.string() })),
    })
    .optional(),
})

/** The provisioned data source of Grafana. @throws ZodError if it is not as the tests expect */
const sourceOf = (name: string): z.infer<typeof source> =>
  z.object({ datasources: z.tuple([source]) }).parse(readYaml(`grafana/datasources/${name}.yaml`)).datasources[0]

/** The file of the project that Grafana finds at this path. */
const mountedAt = (path: string): string | undefined =>
  grafana.volumes.map(toMount).find(({ target }) => target === path)?.source

t.test('Prometheus scrapes the admin port as often as Grafana believes, and has its rules', async t => {
  const file = prometheus.command.find(word => word.startsWith('--config.file='))?.slice('--config.file='.length) ?? ''
  const sources = new Map(prometheus.volumes.map(toMount).map(({ source, target }) => [target, source]))
  const { global, scrape_configs, rule_files } = scrapes.parse(readYaml(sources.get(file) ?? ''))
  const targets = scrape_configs.flatMap(({ static_configs }) => static_configs.flatMap(found => found.targets))

  t.same(targets, [`sidegate:${config.admin.port}`])
  t.equal(sourceOf('prometheus').jsonData?.timeInterval, global.scrape_interval)
  t.same(
    rule_files.map(name => sources.get(join(dirname(file), name))),
    ['../prometheus/rules.yaml'],
  )
})

t.test('Grafana asks Prometheus, and its exemplars lead to the traces that Sidegate sends to Jaeger', async t => {
  t.equal(mountedAt('/etc/grafana/provisioning/datasources'), './grafana/datasources')
  t.match(sourceOf('prometheus'), {
    type: 'prometheus',
    url: `http://prometheus:${listening.prometheus}`,
    jsonData: { exemplarTraceIdDestinations: [{ datasourceUid: sourceOf('jaeger').uid }] },
  })
  t.match(sourceOf('jaeger'), { type: 'jaeger', url: 'http://jaeger:16686' })
  t.equal(sidegate.environment.OTEL_EXPORTER_OTLP_ENDPOINT, 'http://jaeger:4318')
  t.equal(jaeger.environment.JAEGER_LISTEN_HOST, '0.0.0.0')
  t.ok(prometheus.command.includes('--enable-feature=exemplar-storage'))
})

t.test('Grafana has the dashboard, and begins with it', async t => {
  const { providers } = z
    .object({ providers: z.tuple([z.object({ type: z.literal('file'), options: z.object({ path: z.string() }) })]) })
    .parse(readYaml('grafana/dashboards/sidegate.yaml'))
  const { path } = providers[0].options

  t.equal(mountedAt('/etc/grafana/provisioning/dashboards'), './grafana/dashboards')
  t.equal(grafana.environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH, `${path}/sidegate.json`)
  t.ok(existsSync(join(folder, mountedAt(path) ?? '', 'sidegate.json')))
})

t.test('the configuration is mounted where the image looks for it, and its environment is given', async t => {
  const command = readStages()
    .at(-1)
    ?.instructions.find(({ name }) => name === 'CMD')
  const file = toExecForm(command?.text ?? '').at(-1)
  const { source } = sidegate.volumes.map(toMount).find(({ target }) => file?.startsWith(`${target}/`)) ?? {
    source: '',
  }

  t.equal(file, '/etc/sidegate/sidegate.yaml')
  t.ok(existsSync(join(folder, source, 'sidegate.yaml')))
  t.ok('DEMO_CLIENT_SECRET' in sidegate.environment)
})

t.test('the demo service is a file of the image', async t => {
  const [node, script = ''] = accounts.entrypoint

  t.equal(node, 'node')
  t.equal(accounts.image, sidegate.image)
  t.ok(existsSync(join(folder, '../../src', script.replace('/app/dist/', '').replace(/\.js$/, '.ts'))))
})

t.test('Sidegate may end as slowly as its configuration says', async t => {
  const graceMs = parseDurationMs(sidegate.stop_grace_period ?? '') ?? 0

  t.ok(graceMs > config.shutdown.delayMs + config.shutdown.timeoutMs)
})

t.test('a service that waits for another one to be healthy waits for one with a health check', async t => {
  const isWatched = (name: string) =>
    name === 'sidegate' || services.some(([found, { healthcheck }]) => found === name && healthcheck !== undefined)
  const awaited = services.flatMap(([, { depends_on }]) => Object.keys(depends_on))

  t.ok(awaited.every(name => name in project.services && isWatched(name)))
  t.same(redis.healthcheck?.test, ['CMD', 'redis-cli', 'ping'])
})

t.test('every image has a version, none gains privileges, and Sidegate writes nowhere', async t => {
  for (const [name, { image, security_opt }] of services) {
    t.match(image, /:v?\d+\.\d+\.\d+$/, name)
    t.same(security_opt, ['no-new-privileges:true'], name)
  }
  t.match(sidegate, { read_only: true, cap_drop: ['ALL'] })
})
