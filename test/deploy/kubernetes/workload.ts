import { z } from 'zod'
import { type KubernetesObject, onlyOne } from './objects.ts'

const port = z.union([z.string(), z.number()])
const probe = z.object({ httpGet: z.object({ path: z.string(), port }) })

const securityContext = z.object({
  runAsNonRoot: z.boolean().optional(),
  runAsUser: z.number().optional(),
  allowPrivilegeEscalation: z.boolean().optional(),
  privileged: z.boolean().optional(),
  readOnlyRootFilesystem: z.boolean().optional(),
  capabilities: z.object({ add: z.array(z.string()).default([]), drop: z.array(z.string()) }).optional(),
  seccompProfile: z.object({ type: z.string() }).optional(),
})

const container = z.object({
  name: z.string(),
  image: z.string(),
  restartPolicy: z.string().optional(),
  env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }).optional(),
  resources: z.object({ requests: z.record(z.string(), port), limits: z.record(z.string(), port) }).optional(),
  securityContext: securityContext.default({}),
  volumeMounts: z
    .array(
      z.object({
        name: z.string(),
        mountPath: z.string(),
        subPath: z.string().optional(),
        readOnly: z.boolean().default(false),
      }),
    )
    .default([]),
})
export type Container = z.infer<typeof container>

const volume = z.looseObject({
  name: z.string(),
  configMap: z.object({ name: z.string() }).optional(),
  secret: z.object({ secretName: z.string(), defaultMode: z.number().optional() }).optional(),
})

const podSpec = z.object({
  terminationGracePeriodSeconds: z.number(),
  automountServiceAccountToken: z.boolean(),
  hostNetwork: z.boolean().default(false),
  hostPID: z.boolean().default(false),
  securityContext: securityContext.default({}),
  initContainers: z.array(container).default([]),
  containers: z.array(container),
  volumes: z.array(volume).default([]),
})

const deployment = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number().optional(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({ metadata: z.object({ labels: z.record(z.string(), z.string()) }), spec: podSpec }),
  }),
})

/** A Deployment whose pods have Sidegate in them, as far as the tests look at it. */
export interface Workload {
  readonly name: string
  /** Left out where an autoscaler says it. */
  readonly replicas?: number
  readonly labels: Readonly<Record<string, string>>
  readonly pod: z.infer<typeof podSpec>
  readonly sidegate: Container
  /** The other containers of the pod: the service, where Sidegate is its sidecar. */
  readonly services: readonly Container[]
}

/** @throws Error where there is not one Deployment, or none of its containers is named `sidegate` */
export const toWorkload = (objects: readonly KubernetesObject[]): Workload => {
  const { metadata, spec } = deployment.parse(onlyOne(objects, 'Deployment'))
  const { initContainers, containers } = spec.template.spec
  const all = [...initContainers, ...containers]
  const sidegate = all.find(({ name }) => name === 'sidegate')
  if (sidegate === undefined) throw new Error('no container is named sidegate')
  return {
    name: metadata.name,
    ...(spec.replicas !== undefined && { replicas: spec.replicas }),
    labels: spec.template.metadata.labels,
    pod: spec.template.spec,
    sidegate,
    services: containers.filter(found => found !== sidegate),
  }
}

/** Whether Sidegate starts before the service of its pod and ends after it. */
export const isSidecar = ({ pod, sidegate }: Workload): boolean => pod.initContainers.includes(sidegate)
