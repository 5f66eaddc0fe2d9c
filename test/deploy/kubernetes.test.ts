import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { metrics } from '../../src/telemetry/metrics.ts'
import { readPage } from '../docs/markdown.ts'
import { startSidegate } from '../support/sidegate.ts'
import { type Deployed, findDisagreements, portOf } from './kubernetes/agreements.ts'
import { kubernetes, renderKustomization, renderWith } from './kubernetes/kustomize.ts'
import { loadMountedConfiguration } from './kubernetes/mounted-configuration.ts'
import { type KubernetesObject, objectsOf, onlyOne } from './kubernetes/objects.ts'
import { findPolicyProblems } from './kubernetes/policies.ts'
import { findSchemaProblems } from './kubernetes/schema.ts'
import { statedDefaults } from './kubernetes/stated-defaults.ts'
import { isSidecar, toWorkload } from './kubernetes/workload.ts'
import { dashboardFile } from './prometheus/dashboard.ts'

const overlays = ['gateway', 'redis-cluster', 'redis-sentinel', 'sidecar'] as const

const deploy = async (objects: readonly KubernetesObject[]): Promise<Deployed> => {
  const workload = toWorkload(objects)
  return { objects, workload, config: await loadMountedConfiguration(workload, objects) }
}

const rendered = new Map(overlays.map(name => [name, renderKustomization(join(kubernetes, 'overlays', name))] as const))
const objectsIn = (overlay: (typeof overlays)[number]): readonly KubernetesObject[] => rendered.get(overlay) ?? []

for (const overlay of overlays) {
  t.test(`the overlay ${overlay} is what Kubernetes takes`, async t => {
    t.same(objectsIn(overlay).flatMap(findSchemaProblems), [])
  })

  t.test(`the overlay ${overlay} keeps to the policies`, async t => {
    t.same(findPolicyProblems(toWorkload(objectsIn(overlay))), [])
  })

  t.test(`the overlay ${overlay} agrees with itself and with its configuration, which is good`, async t => {
    t.same(findDisagreements(await deploy(objectsIn(overlay))), [])
  })

  t.test(`the overlay ${overlay} has the defaults of the configuration`, async t => {
    const { workload, config } = await deploy(objectsIn(overlay))

    t.equal(portOf(workload.sidegate, 'http'), statedDefaults.port)
    t.equal(portOf(workload.sidegate, 'admin'), statedDefaults.adminPort)
    t.same(config.shutdown, { delayMs: statedDefaults.delayMs, timeoutMs: statedDefaults.timeoutMs })
  })

  t.test(`the overlay ${overlay} has all that a gateway needs`, async t => {
    const kinds = new Set(objectsIn(overlay).map(({ kind }) => kind))

    for (const kind of ['ConfigMap', 'Secret', 'Service', 'PodDisruptionBudget', 'NetworkPolicy', 'PodMonitor']) {
      t.ok(kinds.has(kind), kind)
    }
    t.equal(kinds.has('HorizontalPodAutoscaler'), overlay !== 'sidecar')
  })
}

t.test('the dashboard is a ConfigMap that Grafana looks for', async t => {
  const dashboards = renderKustomization(dirname(dashboardFile))

  t.same(dashboards.flatMap(findSchemaProblems), [])
  t.match(dashboards, [
    {
      kind: 'ConfigMap',
      metadata: { labels: { grafana_dashboard: '1' } },
      data: { 'sidegate.json': readFileSync(dashboardFile, 'utf8') },
    },
  ])
})

t.test('the overlays lead to a Redis, to Sentinels and to a Cluster', async t => {
  const stores = await Promise.all(overlays.map(async name => (await deploy(objectsIn(name))).config.store))

  t.same(
    stores.map(store => store.kind === 'redis' && store.mode),
    ['single', 'cluster', 'sentinel', 'single'],
  )
})

t.test('Sidegate is a sidecar in one overlay and on its own in the others', async t => {
  const sidecars = overlays.filter(name => isSidecar(toWorkload(objectsIn(name))))

  t.same(sidecars, ['sidecar'])
})

const custom = z.object({
  rules: z.object({
    custom: z.array(z.object({ seriesQuery: z.string(), name: z.object({ as: z.string() }) })),
  }),
})
const scaling = z.object({
  spec: z.object({
    metrics: z.array(z.object({ pods: z.object({ metric: z.object({ name: z.string() }) }).optional() })),
  }),
})

t.test('the autoscaler asks for what the adapter makes of a counter of Sidegate', async t => {
  const { spec } = scaling.parse(onlyOne(objectsIn('gateway'), 'HorizontalPodAutoscaler'))
  const asked = spec.metrics.flatMap(({ pods }) => pods?.metric.name ?? [])
  const adapter = join(kubernetes, 'overlays/gateway/prometheus-adapter.yaml')
  const { rules } = custom.parse(parse(readFileSync(adapter, 'utf8')))

  t.same(
    rules.custom.map(({ name }) => name.as),
    asked,
  )
  const counted = rules.custom.map(({ seriesQuery }) => seriesQuery.replace(/\{.*/, ''))
  const counters = Object.values(metrics).filter(({ kind }) => kind === 'counter')
  t.ok(counted.every(name => counters.some(counter => counter.name === name)))
})

t.test('an overlay as the page has it takes the place of the placeholders, under the same names', async t => {
  const blocks = readPage('docs/operations/kubernetes.md').blocks.map(({ text }) => text)
  const overlay = blocks.join('\n').match(/cat > kustomization\.yaml <<'YAML'\n(.*?)\n\s*YAML\n/s)?.[1] ?? ''
  // kustomize wants a path without the root in it.
  const dir = t.testdir({ demo: 'a-secret', url: 'redis://somewhere:6379' })
  const sidecar = relative(dir, join(kubernetes, 'overlays/sidecar'))
  writeFileSync(join(dir, 'kustomization.yaml'), overlay.replace('../deploy/kubernetes/overlays/sidecar', sidecar))

  const deployed = await deploy(renderKustomization(dir))

  t.same(findDisagreements(deployed), [])
  const { store } = deployed.config
  t.equal(store.kind === 'redis' && store.url.reveal(), 'redis://somewhere:6379')
  const clients = objectsOf(deployed.objects, 'Secret').find(({ metadata }) => metadata.name === 'sidegate-clients')
  t.match(clients, { data: { demo: Buffer.from('a-secret').toString('base64') } })
})

const instanceLines =
  readPage('docs/operations/kubernetes.md').blocks.find(({ text }) => text.includes('includeSelectors'))?.text ?? ''

t.test('several in one namespace, as the page has it, find their own pods, and the same Redis', async t => {
  const dir = t.testdir({})
  const gateway = relative(dir, join(kubernetes, 'overlays/redis-sentinel'))
  writeFileSync(join(dir, 'kustomization.yaml'), `resources: [${gateway}]\n${instanceLines}`)

  const own = renderKustomization(dir)

  t.same(findDisagreements(await deploy(own)), [])
  t.ok(own.every(({ metadata }) => metadata.name.startsWith('shop-')))
  const instance = { 'app.kubernetes.io/instance': 'shop' }
  for (const { kind, spec } of ['Deployment', 'PodDisruptionBudget', 'PodMonitor'].map(kind => onlyOne(own, kind)))
    t.match(spec, { selector: { matchLabels: instance } }, kind)
  t.match(onlyOne(own, 'Service').spec, { selector: instance })
  const peersOf = (objects: readonly KubernetesObject[]): readonly unknown[] =>
    objectsOf(objects, 'NetworkPolicy').map(
      ({ spec }) => z.object({ egress: z.unknown() }).partial().parse(spec).egress,
    )
  for (const { spec } of objectsOf(own, 'NetworkPolicy')) t.match(spec, { podSelector: { matchLabels: instance } })
  t.same(peersOf(own), peersOf(objectsIn('redis-sentinel')))
})

t.test('with the component, a ServiceMonitor is in place of the PodMonitor, with a Service of its own', async t => {
  const monitored = renderWith(t.testdir({}), 'gateway', 'service-monitor')

  t.same(monitored.flatMap(findSchemaProblems), [])
  t.same(findDisagreements(await deploy(monitored)), [])
  t.same(objectsOf(monitored, 'PodMonitor'), [])
  t.match(onlyOne(monitored, 'ServiceMonitor').metadata, { name: 'sidegate' })
})

t.test('several in one namespace, each with a ServiceMonitor, are scraped by their own alone', async t => {
  const own = renderWith(t.testdir({}), 'gateway', 'service-monitor', instanceLines)

  t.same(findDisagreements(await deploy(own)), [])
  const instance = { 'app.kubernetes.io/instance': 'shop' }
  t.match(onlyOne(own, 'ServiceMonitor').spec, { selector: { matchLabels: instance } })
  const metrics = objectsOf(own, 'Service').find(({ metadata }) => metadata.name === 'shop-sidegate-metrics')
  t.match(metrics, { metadata: { labels: instance }, spec: { selector: instance } })
})

t.test('the manifests trust no proxy by default', async t => {
  for (const overlay of overlays) t.same((await deploy(objectsIn(overlay))).config.trustedProxies, [], overlay)
})

t.test('every path that is probed or scraped answers 200 under the configuration of the pods', async t => {
  const { sidegate } = toWorkload(objectsIn('sidecar'))
  const configMap = z
    .object({ data: z.record(z.string(), z.string()) })
    .parse(onlyOne(objectsIn('sidecar'), 'ConfigMap'))
  const { listen, admin, store_file, ...rest } = parse(configMap.data['sidegate.yaml'] ?? '') as Record<string, unknown>
  const secrets = t.testdir({ demo: 'a-secret' })
  const local = parse(stringify({ ...rest, workers: 1 }).replaceAll('/etc/sidegate-clients', secrets)) as object

  const running = await startSidegate(t, { ...local }, { ACCOUNTS_URL: 'http://127.0.0.1:9000' })

  const probed = [sidegate.startupProbe, sidegate.readinessProbe, sidegate.livenessProbe]
  for (const path of [...probed.flatMap(probe => probe?.httpGet.path ?? []), '/metrics']) {
    const response = await fetch(`${running.admin}${path}`)
    await response.body?.cancel()
    t.equal(response.status, 200, path)
  }
})
