/** The rendered chart. After a change of the chart, render it again: test/deploy/helm/render.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { z } from 'zod'
import { restartOnlySettings } from '../../src/app/restart-only-settings.ts'
import { chart, chartDigest, headLine, readRendered, rendered, valueSets } from './helm/chart.ts'
import { refusals } from './helm/refusals.ts'
import { findDisagreements, portOf } from './kubernetes/agreements.ts'
import { kubernetes } from './kubernetes/kustomize.ts'
import { loadMountedConfiguration } from './kubernetes/mounted-configuration.ts'
import { type KubernetesObject, objectsOf, onlyOne, parseObjects } from './kubernetes/objects.ts'
import { findPolicyProblems } from './kubernetes/policies.ts'
import { findSchemaProblems } from './kubernetes/schema.ts'
import { statedDefaults } from './kubernetes/stated-defaults.ts'
import { isSidecar, toWorkload } from './kubernetes/workload.ts'
import { dashboardFile } from './prometheus/dashboard.ts'

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')))

const head = headLine(chartDigest())
const textOf = (file: string): string => readFileSync(join(chart, file), 'utf8')

/** The chart makes no Secrets: these are there when it is installed. */
const secrets = parseObjects(`
{ apiVersion: v1, kind: Secret, metadata: { name: sidegate-store }, data: { url: ${btoa('redis://redis:6379')} } }
---
{ apiVersion: v1, kind: Secret, metadata: { name: sidegate-clients }, data: { demo: ${btoa('a-secret')} } }
`)

/** The objects that remain: the Pod of `helm test` is deleted when it has ended. */
const lastingObjects = (set: string): readonly KubernetesObject[] => [
  ...readRendered(set).objects.filter(({ kind }) => kind !== 'Pod'),
  ...secrets,
]

for (const set of valueSets) {
  t.test(`with the ${set} values, the chart was rendered as it stands`, async t => {
    t.equal(readRendered(set).head, head, 'npx node test/deploy/helm/render.ts renders it anew')
  })

  t.test(`with the ${set} values, it is what Kubernetes takes`, async t => {
    t.same(readRendered(set).objects.flatMap(findSchemaProblems), [])
  })

  t.test(`with the ${set} values, it keeps to the policies`, async t => {
    t.same(findPolicyProblems(toWorkload(lastingObjects(set))), [])
  })

  t.test(`with the ${set} values, it agrees with itself and with its configuration, which is good`, async t => {
    const objects = lastingObjects(set)
    const workload = toWorkload(objects)

    t.same(findDisagreements({ objects, workload, config: await loadMountedConfiguration(workload, objects) }), [])
  })
}

t.test('the chart has all that a gateway needs, whatever the values', async t => {
  for (const set of valueSets)
    for (const kind of ['ConfigMap', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'])
      t.ok(objectsOf(lastingObjects(set), kind).length > 0, `${set}: ${kind}`)
})

t.test('the chart has the defaults of the configuration', async t => {
  const objects = lastingObjects('default')
  const workload = toWorkload(objects)
  const { shutdown } = await loadMountedConfiguration(workload, objects)

  t.equal(portOf(workload.sidegate, 'http'), statedDefaults.port)
  t.equal(portOf(workload.sidegate, 'admin'), statedDefaults.adminPort)
  t.same(shutdown, { delayMs: statedDefaults.delayMs, timeoutMs: statedDefaults.timeoutMs })
})

t.test('Sidegate is a sidecar with the values for one alone', async t => {
  t.same(
    valueSets.filter(set => isSidecar(toWorkload(lastingObjects(set)))),
    ['sidecar'],
  )
})

t.test('the autoscaler, the monitors and the alerts are there where they are wanted', async t => {
  const havingKind = (kind: string) => valueSets.filter(set => objectsOf(lastingObjects(set), kind).length > 0)

  t.same(havingKind('HorizontalPodAutoscaler'), ['default', 'gateway'])
  t.same(havingKind('PodMonitor'), ['gateway'])
  t.same(havingKind('ServiceMonitor'), ['sidecar'])
  t.same(havingKind('PrometheusRule'), ['gateway'])
})

t.test('the dashboard is there where it is wanted, as it stands in deploy/grafana', async t => {
  const dashboardOf = (set: string) =>
    objectsOf(lastingObjects(set), 'ConfigMap').filter(({ metadata }) => metadata.labels.grafana_dashboard === '1')

  t.same(
    valueSets.filter(set => dashboardOf(set).length > 0),
    ['gateway'],
  )
  t.match(
    dashboardOf('gateway')[0]?.data,
    { 'sidegate.json': readFileSync(dashboardFile, 'utf8') },
    'the chart has a copy, dashboard.json: copy it anew, then render',
  )
})

t.test('what is set for the pods stands in them', async t => {
  const deployment = onlyOne(lastingObjects('gateway'), 'Deployment')

  t.match(deployment, {
    spec: {
      template: {
        metadata: { labels: { team: 'payments' }, annotations: { note: 'a: b' } },
        spec: {
          imagePullSecrets: [{ name: 'registry' }],
          priorityClassName: 'system-cluster-critical',
          nodeSelector: { 'kubernetes.io/arch': 'amd64' },
          tolerations: [{ key: 'edge', operator: 'Exists' }],
          containers: [
            { image: /^registry\.example\.com\/sidegate@sha256:/, env: [{ name: /^\w+$/ }, { value: 'yes' }] },
          ],
        },
      },
    },
  })
})

t.test('what helm test runs is as restricted as the rest', async t => {
  const { objects } = readRendered('default')
  const pod = onlyOne(objects, 'Pod')

  t.match(pod.metadata, { annotations: { 'helm.sh/hook': 'test' } })
  t.match(pod, {
    spec: {
      containers: [
        { securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } },
      ],
    },
  })
})

t.test('with TLS, helm test asks by https, and without by http', async t => {
  const urlOf = (set: string): unknown =>
    /^ +- (https?:.*)$/m.exec(readFileSync(join(rendered, `${set}.yaml`), 'utf8'))?.[1]

  t.equal(readRendered('test-with-tls').head, head)
  t.equal(urlOf('test-with-tls'), 'https://sidegate:80/')
  t.equal(urlOf('default'), 'http://sidegate:80/')
})

t.test('the pods roll for the keys that a running Sidegate does not take', async t => {
  const picked = textOf('templates/_helpers.tpl').match(/pick \.Values\.configuration ((?:"\w+" )+)/)?.[1]

  t.same(picked?.match(/\w+/g), [...restartOnlySettings, 'store_file'])
})

t.test('chart and program have one version', async t => {
  t.match(parse(textOf('Chart.yaml')), { version, appVersion: version })
})

t.test('the rule for prometheus-adapter is that of the overlay', async t => {
  t.equal(
    textOf('prometheus-adapter.yaml'),
    readFileSync(join(kubernetes, 'overlays/gateway/prometheus-adapter.yaml'), 'utf8'),
  )
})

t.test('Helm refused what the chart should refuse', async t => {
  const text = readFileSync(join(rendered, 'refusals.txt'), 'utf8')

  t.ok(text.startsWith(head))
  for (const { what, set, words } of refusals) {
    const said = text.slice(text.indexOf(`${what}\n    --set ${set}\n`)).split('\n\n')[0] ?? ''
    t.ok(said.includes(words), what)
  }
})

t.test('the schema of the values describes each of them', async t => {
  const described = z
    .object({ properties: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(textOf('values.schema.json')))

  t.same(
    Object.keys(described.properties)
      .filter(key => key !== 'global')
      .sort(),
    Object.keys(parse(textOf('values.yaml')) as object).sort(),
  )
})

t.test('the notes say where it is, what it waits for, and how to try it', async t => {
  const notes = readFileSync(join(rendered, 'notes.txt'), 'utf8')

  t.ok(notes.startsWith(head))
  for (const words of [
    'http://sidegate.apis:80',
    'secret generic sidegate-store',
    'secret generic sidegate-clients',
    'helm test sidegate',
  ]) {
    t.ok(notes.includes(words), words)
  }
})
