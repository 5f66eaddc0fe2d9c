import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { z } from 'zod'
import { startSidegate } from '../support/sidegate.ts'
import { type Container, renderManifests } from './manifests.ts'

const sidegateProgram = join(import.meta.dirname, '../../src/sidegate.cjs')

const manifests = renderManifests()
const pod = manifests.pod.spec
const containers = [...pod.initContainers, ...pod.containers]
const [sidegate] = pod.initContainers
if (sidegate === undefined) throw new Error('the pod has no sidecar')

const stated = z.object({ default: z.string() })
const schemaDefaults = z
  .object({
    properties: z.object({
      listen: stated,
      admin: stated,
      shutdown: z.object({ properties: z.object({ delay: stated, timeout: stated }) }),
    }),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../config/sidegate.schema.json'), 'utf8')))

const portOf = (name: string): number | undefined => sidegate.ports.find(port => port.name === name)?.containerPort

/** `5s`, as the configuration writes a duration. */
const toSeconds = (duration: string): number => {
  const seconds = /^(\d+)s$/.exec(duration)?.[1]
  if (seconds === undefined) throw new TypeError(`not in whole seconds: ${duration}`)
  return Number(seconds)
}

/** The configuration of the ConfigMap, to run here: secrets from a folder; addresses and store are up to the test. */
const toLocalConfig = (secretDir: string) => {
  const { listen, admin, store, ...rest } = manifests.configuration
  const clients = rest.clients.map(client => ({ ...client, client_secret_file: `${secretDir}/${client.client_id}` }))
  return { ...rest, clients, workers: 1 }
}

t.test('everything that Sidegate needs is rendered', async t => {
  t.same(manifests.kinds, ['ConfigMap', 'Deployment', 'PodMonitor', 'Secret', 'Service'])
})

t.test('Sidegate is a native sidecar: it starts before the service and ends after it', async t => {
  t.equal(sidegate.name, 'sidegate')
  t.equal(sidegate.restartPolicy, 'Always')
  t.equal(sidegate.lifecycle, undefined)
})

t.test('the ports of the pod are those that the configuration listens on, for the whole pod network', async t => {
  t.equal(manifests.configuration.listen, `0.0.0.0:${portOf('http')}`)
  t.equal(manifests.configuration.admin, `0.0.0.0:${portOf('admin')}`)
})

t.test(
  'the ports, and how long a shutdown takes, are the defaults that the schema of the configuration states',
  async t => {
    const { listen, admin, shutdown } = schemaDefaults.properties
    const { delay, timeout } = shutdown.properties

    t.ok(listen.default.endsWith(`:${portOf('http')}`), listen.default)
    t.ok(admin.default.endsWith(`:${portOf('admin')}`), admin.default)
    t.same(manifests.configuration.shutdown, { delay: delay.default, timeout: timeout.default })
  },
)

t.test('the Service leads to the traffic of these pods and not to the admin port', async t => {
  t.same(
    manifests.service.ports.map(port => port.targetPort),
    ['http'],
  )
  t.match(manifests.pod.metadata.labels, manifests.service.selector)
})

t.test('Prometheus scrapes the admin port of these pods', async t => {
  t.same(manifests.podMonitor.podMetricsEndpoints, [{ port: 'admin', path: '/metrics' }])
  t.match(manifests.pod.metadata.labels, manifests.podMonitor.selector.matchLabels)
})

t.test('all probes ask the admin port', async t => {
  t.same(sidegate.startupProbe?.httpGet, { path: '/livez', port: 'admin' })
  t.same(sidegate.readinessProbe?.httpGet, { path: '/readyz', port: 'admin' })
  t.same(sidegate.livenessProbe?.httpGet, { path: '/livez', port: 'admin' })
})

t.test('nothing runs as root, writes to its image or keeps a privilege', async t => {
  t.match(pod.securityContext, { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } })
  for (const { name, securityContext } of containers) {
    const wanted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }
    t.same(securityContext, wanted, name)
  }
})

t.test('every container says what it needs, and what it may use at most', async t => {
  for (const { name, resources } of containers) {
    t.hasProps(resources.requests, ['cpu', 'memory'], name)
    t.hasProp(resources.limits, 'memory', name)
  }
})

t.test('every image has a version', async t => {
  for (const { name, image } of containers) t.match(image, /:\d+\.\d+\.\d+(-[a-z]+)?$/, name)
})

t.test('the grace period is longer than all that happens in it', async t => {
  const { delay, timeout } = manifests.configuration.shutdown
  const preStopSec = Math.max(...pod.containers.map(toPreStopSec))

  t.ok(preStopSec > 0, 'the service waits until no node sends to the pod any more')
  t.ok(pod.terminationGracePeriodSeconds > preStopSec + toSeconds(delay) + toSeconds(timeout))
})

const toPreStopSec = ({ lifecycle }: Container): number => Number(lifecycle?.preStop.exec.command.at(-1) ?? 0)

t.test('configuration and secrets are mounted as folders, where the configuration looks for them', async t => {
  const folderOf = (volume?: string): string | undefined =>
    sidegate.volumeMounts.find(mount => mount.name === volume && mount.subPath === undefined)?.mountPath
  const configVolume = pod.volumes.find(volume => volume.configMap?.name === manifests.configMap.metadata.name)
  const secretVolume = pod.volumes.find(volume => volume.secret?.secretName === manifests.secret.metadata.name)

  t.equal(folderOf(configVolume?.name), '/etc/sidegate')
  for (const { client_id, client_secret_file } of manifests.configuration.clients) {
    t.equal(client_secret_file, `${folderOf(secretVolume?.name)}/${client_id}`)
    t.hasProp(manifests.secret.data, client_id)
  }
})

t.test('the configuration passes the check, with the environment of the container', async t => {
  const dir = t.testdir({ demo: 'a-secret' })
  const file = join(dir, 'sidegate.yaml')
  const { listen, admin, store } = manifests.configuration
  writeFileSync(file, stringify({ listen, admin, store, ...toLocalConfig(dir) }))
  const environment = Object.fromEntries(sidegate.env.map(({ name, value }) => [name, value]))

  const check = spawnSync(process.execPath, [sidegateProgram, 'check', '--config', file], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })

  t.equal(check.stderr, '')
  t.equal(check.status, 0)
})

t.test('every path that is probed or scraped answers 200 under this configuration', async t => {
  const running = await startSidegate(t, toLocalConfig(t.testdir({ demo: 'a-secret' })))
  const probes = [sidegate.startupProbe, sidegate.readinessProbe, sidegate.livenessProbe]
  const paths = probes.flatMap(probe => probe?.httpGet.path ?? [])

  for (const path of [...paths, ...manifests.podMonitor.podMetricsEndpoints.map(endpoint => endpoint.path)]) {
    const response = await fetch(`${running.admin}${path}`)
    await response.body?.cancel()
    t.equal(response.status, 200, path)
  }
})
