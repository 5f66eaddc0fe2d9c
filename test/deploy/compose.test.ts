/** No container engine is needed to see that what the files of deploy/compose name is there. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { loadConfig } from '../../src/config/load.ts'
import { parseDurationMs } from '../../src/config/values/duration.ts'
import { parseRedisAddress } from '../../src/stores/store-url.ts'
import { findSchemaProblems, folder, readProject, readYaml, toMount, toPublished } from './compose/project.ts'
import { readStages, toExecForm } from './dockerfile.ts'

const project = readProject()
const { sidegate, accounts, redis, prometheus, grafana } = project.services
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
  scrape_configs: z.array(z.object({ static_configs: z.array(z.object({ targets: z.array(z.string()) })) })),
})
const sources = z.object({ datasources: z.array(z.object({ type: z.string(), url: z.url() })) })

t.test('Prometheus scrapes the admin port, and Grafana asks Prometheus', async t => {
  const file = prometheus.command.find(word => word.startsWith('--config.file='))?.slice('--config.file='.length)
  const { source } = prometheus.volumes.map(toMount).find(({ target }) => target === file) ?? { source: '' }
  const targets = scrapes
    .parse(readYaml(source))
    .scrape_configs.flatMap(({ static_configs }) => static_configs.flatMap(found => found.targets))
  const { datasources } = sources.parse(readYaml('grafana/datasources/prometheus.yaml'))

  t.same(targets, [`sidegate:${config.admin.port}`])
  t.same(
    datasources.map(({ url }) => url),
    [`http://prometheus:${listening.prometheus}`],
  )
  t.ok(grafana.volumes.map(toMount).some(({ target }) => target === '/etc/grafana/provisioning/datasources'))
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
  t.same(Object.keys(sidegate.environment), ['DEMO_CLIENT_SECRET'])
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

t.test('who waits for another to be healthy waits for one that says how it is', async t => {
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
