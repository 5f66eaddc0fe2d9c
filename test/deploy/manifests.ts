import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

const kubernetes = join(import.meta.dirname, '../../deploy/kubernetes')

const securityContext = z.object({
  allowPrivilegeEscalation: z.boolean().optional(),
  readOnlyRootFilesystem: z.boolean().optional(),
  capabilities: z.object({ drop: z.array(z.string()) }).optional(),
})

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) })

const container = z.object({
  name: z.string(),
  image: z.string(),
  restartPolicy: z.string().optional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  resources: z.object({ requests: z.record(z.string(), z.string()), limits: z.record(z.string(), z.string()) }),
  securityContext,
  volumeMounts: z
    .array(z.object({ name: z.string(), mountPath: z.string(), subPath: z.string().optional() }))
    .default([]),
})
export type Container = z.infer<typeof container>

const volume = z.object({
  name: z.string(),
  configMap: z.object({ name: z.string() }).optional(),
  secret: z.object({ secretName: z.string() }).optional(),
})

const labels = z.record(z.string(), z.string())
const metadata = z.object({ name: z.string() })

const deployment = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels }),
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({
          runAsNonRoot: z.boolean(),
          runAsUser: z.number(),
          seccompProfile: z.object({ type: z.string() }),
        }),
        initContainers: z.array(container),
        containers: z.array(container),
        volumes: z.array(volume),
      }),
    }),
  }),
})

const configMap = z.object({ metadata, data: z.record(z.string(), z.string()) })
const secret = z.object({ metadata, data: z.record(z.string(), z.string()) })
const service = z.object({
  spec: z.object({ selector: labels, ports: z.array(z.object({ port: z.number(), targetPort: z.string() })) }),
})
const podMonitor = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: labels }),
    podMetricsEndpoints: z.array(z.object({ port: z.string(), path: z.string() })),
  }),
})

/** The part of sidegate.yaml that the manifests must agree with. */
const configuration = z.looseObject({
  listen: z.string(),
  admin: z.string(),
  store: z.string(),
  clients: z.array(z.looseObject({ client_id: z.string(), client_secret_file: z.string() })),
  shutdown: z.object({ delay: z.string(), timeout: z.string() }),
})

/** What `kubectl apply -k` would send, by kind. Throws when kubectl refuses, or a member that we rely on is not there. */
export const renderManifests = () => {
  const rendered = execFileSync('kubectl', ['kustomize', kubernetes], { encoding: 'utf8' })
  const objects = parseAllDocuments(rendered).map(document =>
    z.looseObject({ kind: z.string() }).parse(document.toJS()),
  )
  const one = (kind: string): unknown => objects.find(object => object.kind === kind)
  const config = configMap.parse(one('ConfigMap'))
  return {
    kinds: objects.map(object => object.kind).sort(),
    pod: deployment.parse(one('Deployment')).spec.template,
    configMap: config,
    secret: secret.parse(one('Secret')),
    service: service.parse(one('Service')).spec,
    podMonitor: podMonitor.parse(one('PodMonitor')).spec,
    configuration: configuration.parse(parse(config.data['sidegate.yaml'] ?? '')),
  }
}
