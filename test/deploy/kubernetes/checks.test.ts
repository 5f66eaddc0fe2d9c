/** The checks themselves: each finds what it is there for, in a Deployment that was good until then. */
import { join } from 'node:path'
import t from 'tap'
import { findDisagreements } from './agreements.ts'
import { kubernetes, renderKustomization, renderWith } from './kustomize.ts'
import { loadMountedConfiguration } from './mounted-configuration.ts'
import { type KubernetesObject, onlyOne, parseObjects } from './objects.ts'
import { findPolicyProblems } from './policies.ts'
import { findSchemaProblems } from './schema.ts'
import { toWorkload } from './workload.ts'

const good = renderKustomization(join(kubernetes, 'overlays/sidecar'))
const monitored = renderWith(t.testdir({}), 'sidecar', 'service-monitor')

/** The objects with every `from` in them a `to`. @throws Error if there is no such text */
const change = (from: string, to: string, among = good): readonly KubernetesObject[] => {
  const text = JSON.stringify(among)
  if (!text.includes(from)) throw new Error(`nowhere: ${from}`)
  const objects = JSON.parse(text.replaceAll(from, to)) as unknown[]
  return parseObjects(objects.map(object => JSON.stringify(object)).join('\n---\n'))
}

const againstPolicy = [
  ['"runAsNonRoot":true', '"runAsNonRoot":false', 'may be root'],
  ['"runAsUser":65532', '"runAsUser":0', 'may be root'],
  ['"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false', 'writes to its image'],
  ['"allowPrivilegeEscalation":false', '"allowPrivilegeEscalation":true', 'may gain privileges'],
  ['"drop":["ALL"]', '"drop":["ALL"],"add":["NET_ADMIN"]', 'keeps a capability'],
  ['"drop":["ALL"]', '"drop":["CHOWN"]', 'keeps a capability'],
  ['RuntimeDefault', 'Unconfined', 'makes any system call'],
  ['sidegate:0.1.0', 'sidegate:latest', 'has an image of no version'],
  ['sidegate:0.1.0', 'sidegate', 'has an image of no version'],
  ['"requests":{"cpu":"250m",', '"requests":{', 'does not say what it needs'],
  ['"limits":{"memory":"128Mi"}', '"limits":{}', 'takes any amount of memory'],
  ['"readinessProbe"', '"startupProbe"', 'has no readiness probe'],
  ['"name":"config","readOnly":true', '"name":"config","subPath":"a","readOnly":true', 'mounts what is never updated'],
  ['"name":"config","readOnly":true', '"name":"config"', 'may write to its configuration'],
  ['"name":"ACCOUNTS_URL"', '"name":"CLIENT_SECRET"', 'has a secret in its environment'],
  ['"automountServiceAccountToken":false', '"automountServiceAccountToken":true', 'has a token of the cluster'],
  ['"enableServiceLinks":false', '"hostNetwork":true', 'is on its node'],
  ['"defaultMode":288', '"defaultMode":292', 'shows its secrets to every user'],
  ['"restartPolicy":"Always",', '', 'begins with what ends, or holds up the end'],
  ['"lifecycle":{"preStop":{"sleep":{"seconds":5}}},', '', 'begins with what ends, or holds up the end'],
] as const

for (const [from, to, sentence] of againstPolicy) {
  t.test(`${to === '' ? 'without ' : ''}${to === '' ? from : to}: a container or pod ${sentence}`, async t => {
    t.ok(
      findPolicyProblems(toWorkload(change(from, to)))
        .join('\n')
        .includes(sentence),
      sentence,
    )
  })
}

const againstEachOther = [
  ['"containerPort":8080', '"containerPort":8081', 'Sidegate listens on 8080'],
  ['"containerPort":9090', '"containerPort":9091', 'its admin port is 9090'],
  ['admin: 0.0.0.0:9090', 'admin: 127.0.0.1:9090', 'to its own pod alone'],
  ['"path":"/readyz"', '"path":"/livez"', 'the readinessProbe does not ask'],
  ['"port":"admin"}', '"port":"http"}', 'the startupProbe does not ask'],
  ['"terminationGracePeriodSeconds":40', '"terminationGracePeriodSeconds":35', 'is not longer than 35 s'],
  ['timeout: 25s', 'timeout: 30s', 'is not longer than 40 s'],
  [
    '"selector":{"sidegate/component":"gateway"}',
    '"selector":{"app":"gateway"}',
    'the Service sidegate leads elsewhere',
  ],
  ['"targetPort":"http"', '"targetPort":"admin"', 'leads to more than http'],
  ['"matchLabels":{"sidegate/component":"gateway"}', '"matchLabels":{"app":"a"}', 'does not select these pods'],
  ['"ports":[{"port":8080}]', '"ports":[{"port":8081}]', 'the policy opens'],
  ['"from":[{"namespaceSelector"', '"from":[],"to":[{"namespaceSelector"', 'opens the admin port to every pod'],
  ['"replicas":2', '"replicas":1', 'no spare'],
  ['"port":"admin"}]', '"port":"http"}]', 'the monitor scrapes «http/metrics»'],
] as const

const disagreementsOf = async (objects: readonly KubernetesObject[]): Promise<string> => {
  const workload = toWorkload(objects)
  const config = await loadMountedConfiguration(workload, objects)
  return findDisagreements({ objects, workload, config }).join('\n')
}

for (const [from, to, sentence] of againstEachOther) {
  t.test(`${to}: ${sentence}`, async t => {
    t.ok((await disagreementsOf(change(from, to))).includes(sentence), sentence)
  })
}

const withServiceMonitor = [
  ['"clusterIP":"None"', '"clusterIP":""', 'sidegate-metrics leads to more than http'],
  ['"targetPort":"admin"', '"targetPort":"http"', 'sidegate-metrics leads to more than admin'],
  ['{"matchLabels":{"app.kubernetes.io/component"', '{"matchLabels":{"component"', 'the monitor scrapes «»'],
  ['"name":"admin","port":9090', '"name":"metrics","port":9090', 'the monitor scrapes «»'],
  ['"path":"/metrics"', '"path":"/livez"', 'the monitor scrapes «admin/livez»'],
] as const

for (const [from, to, sentence] of withServiceMonitor) {
  t.test(`with a ServiceMonitor, ${to}: ${sentence}`, async t => {
    t.ok((await disagreementsOf(change(from, to, monitored))).includes(sentence), sentence)
  })
}

t.test('a PodMonitor beside a ServiceMonitor counts everything twice', async t => {
  t.equal(await disagreementsOf(monitored), '')
  t.match(await disagreementsOf([...monitored, onlyOne(good, 'PodMonitor')]), /scraped more than once/)
})

t.test('a name that Kubernetes does not know, or a text for a number, is found with its place', async t => {
  const problems = change('"sleep":{"seconds":5}', '"sleep":{"seconds":"5"},"naps":1').flatMap(findSchemaProblems)

  t.match(
    problems.join('\n'),
    /Deployment accounts: spec\.template\.spec\.containers\.0\.lifecycle\.preStop\.sleep\.seconds/,
  )
  t.match(problems.join('\n'), /naps/)
})

t.test(
  'a name that the Prometheus operator does not know, or a time without a unit, is found with its place',
  async t => {
    const from = '"interval":"15s","path"'
    const problems = change(from, '"interval":"15","paths"', monitored).flatMap(findSchemaProblems).join('\n')

    t.match(problems, /ServiceMonitor sidegate: spec\.endpoints\.0\.interval/)
    t.match(problems, /paths/)
  },
)

t.test('a secret that is mounted elsewhere than the configuration says keeps Sidegate from starting', async t => {
  const objects = change('"mountPath":"/etc/sidegate-clients"', '"mountPath":"/etc/clients"')

  await t.rejects(loadMountedConfiguration(toWorkload(objects), objects), { message: /client_secret_file/ })
})
