/** Values that occur in several objects and must agree, with each other and with the configuration in the ConfigMap. */
import { z } from 'zod'
import type { SidegateConfig } from '../../../src/config/load.ts'
import { type KubernetesObject, objectsOf } from './objects.ts'
import { findScrapingProblems } from './scraping.ts'
import { type Container, isSidecar, type Workload } from './workload.ts'

export interface Deployed {
  readonly objects: readonly KubernetesObject[]
  readonly workload: Workload
  /** As Sidegate reads it in its pod. */
  readonly config: SidegateConfig
}

/** Names what disagrees, or nothing. */
export const findDisagreements = (deployed: Deployed): readonly string[] => [
  ...findPortProblems(deployed),
  ...findProbeProblems(deployed),
  ...findGraceProblems(deployed),
  ...findSelectorProblems(deployed),
  ...findServiceProblems(deployed),
  ...findIngressProblems(deployed),
  ...findScalingProblems(deployed),
  ...findScrapingProblems(deployed.objects),
]

const problem = (isWrong: boolean, sentence: string): readonly string[] => (isWrong ? [sentence] : [])

export const portOf = ({ ports }: Container, name: string): number | undefined =>
  ports.find(port => port.name === name)?.containerPort

/** The kubelet and Prometheus come from outside the pod. */
const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::'

const findPortProblems = ({ workload: { sidegate }, config: { listen, admin } }: Deployed): readonly string[] => [
  ...problem(portOf(sidegate, 'http') !== listen.port, `Sidegate listens on ${listen.port}`),
  ...problem(portOf(sidegate, 'admin') !== admin.port, `its admin port is ${admin.port}`),
  ...problem(!isEverywhere(listen.host) || !isEverywhere(admin.host), 'Sidegate listens to its own pod alone'),
]

const findProbeProblems = ({ workload: { sidegate } }: Deployed): readonly string[] =>
  (['startupProbe', 'readinessProbe', 'livenessProbe'] as const).flatMap(name => {
    const asked = sidegate[name]?.httpGet
    const path = name === 'readinessProbe' ? '/readyz' : '/livez'
    return problem(asked?.port !== 'admin' || asked.path !== path, `the ${name} does not ask ${path} of the admin port`)
  })

/** The services end before Sidegate begins to, where it is their sidecar; all of it is within the grace period. */
const findGraceProblems = ({ workload, config: { shutdown } }: Deployed): readonly string[] => {
  const preStopSec = Math.max(0, ...workload.services.map(({ lifecycle }) => lifecycle?.preStop.sleep.seconds ?? 0))
  const neededSec = (isSidecar(workload) ? preStopSec : 0) + (shutdown.delayMs + shutdown.timeoutMs) / 1_000
  const graceSec = workload.pod.terminationGracePeriodSeconds
  return problem(graceSec <= neededSec, `the grace period of ${graceSec} s is not longer than ${neededSec} s`)
}

const matchLabels = z.object({ matchLabels: z.record(z.string(), z.string()) })
const selecting = z.object({
  spec: z.object({ selector: matchLabels.optional(), podSelector: matchLabels.optional() }),
})
const service = z.object({
  spec: z.object({
    clusterIP: z.string().optional(),
    selector: z.record(z.string(), z.string()),
    ports: z.array(z.object({ targetPort: z.union([z.string(), z.number()]) })),
  }),
})

const findSelectorProblems = ({ objects, workload: { labels } }: Deployed): readonly string[] =>
  ['PodDisruptionBudget', 'NetworkPolicy', 'PodMonitor']
    .flatMap(kind => objectsOf(objects, kind))
    .flatMap(object => {
      const { selector, podSelector } = selecting.parse(object).spec
      const wanted = Object.entries((selector ?? podSelector)?.matchLabels ?? {})
      const isMatching = wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value)
      return problem(!isMatching, `${object.kind} ${object.metadata.name} does not select these pods`)
    })

const findServiceProblems = ({ objects, workload: { labels } }: Deployed): readonly string[] =>
  objectsOf(objects, 'Service').flatMap(object => {
    const { clusterIP, selector, ports } = service.parse(object).spec
    // The name of a headless Service leads to the pods themselves, and so no further than the policy lets.
    const reached = clusterIP === 'None' ? 'admin' : 'http'
    return [
      ...problem(
        !Object.entries(selector).every(([name, value]) => labels[name] === value),
        `the Service ${object.metadata.name} leads elsewhere`,
      ),
      ...problem(
        ports.length !== 1 || ports[0]?.targetPort !== reached,
        `the Service ${object.metadata.name} leads to more than ${reached}`,
      ),
    ]
  })

const ingressPolicy = z.object({
  spec: z.object({
    ingress: z
      .array(z.object({ from: z.array(z.unknown()).default([]), ports: z.array(z.object({ port: z.number() })) }))
      .default([]),
  }),
})

const findIngressProblems = ({ objects, config: { listen, admin } }: Deployed): readonly string[] => {
  const rules = objectsOf(objects, 'NetworkPolicy').flatMap(object => ingressPolicy.parse(object).spec.ingress)
  const opened = rules.flatMap(({ ports }) => ports.map(({ port }) => port)).sort()
  const toAdmin = rules.filter(({ ports }) => ports.some(({ port }) => port === admin.port))
  return [
    ...problem(opened.join() !== [listen.port, admin.port].sort().join(), `the policy opens ${opened.join()}`),
    ...problem(
      toAdmin.some(({ from }) => from.length === 0),
      'the policy opens the admin port to every pod',
    ),
  ]
}

const autoscaler = z.object({
  spec: z.object({ scaleTargetRef: z.object({ name: z.string() }), minReplicas: z.number(), maxReplicas: z.number() }),
})

const findScalingProblems = ({ objects, workload }: Deployed): readonly string[] => {
  const [found] = objectsOf(objects, 'HorizontalPodAutoscaler').map(object => autoscaler.parse(object).spec)
  if (found === undefined) return problem((workload.replicas ?? 1) < 2, 'one pod alone is no spare')
  return [
    ...problem(found.scaleTargetRef.name !== workload.name, `the autoscaler knows no ${workload.name}`),
    ...problem(workload.replicas !== undefined, 'every apply undoes what the autoscaler did'),
    ...problem(found.minReplicas < 2 || found.maxReplicas < found.minReplicas, 'one pod alone is no spare'),
  ]
}
