/** How the Prometheus operator is led to the metrics of the pods: to each pod, and to each once. */
import { z } from 'zod'
import { type KubernetesObject, objectsOf } from './objects.ts'

/** The faults of the scraping, also none if no monitor is rendered. */
export const findScrapingProblems = (objects: readonly KubernetesObject[]): readonly string[] => {
  const monitors = ['PodMonitor', 'ServiceMonitor'].flatMap(kind => objectsOf(objects, kind))
  if (monitors.length === 0) return []
  if (monitors.length > 1) return ['each pod is scraped more than once']
  const scraped = [...scrapedAtPods(objects), ...scrapedByServices(objects)].join()
  return scraped === 'admin/metrics' ? [] : [`the monitor scrapes «${scraped}»`]
}

const endpoints = z.array(z.object({ port: z.string(), path: z.string() }))
const podMonitor = z.object({ spec: z.object({ podMetricsEndpoints: endpoints }) })
const serviceMonitor = z.object({
  spec: z.object({ selector: z.object({ matchLabels: z.record(z.string(), z.string()) }), endpoints }),
})
const service = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  spec: z.object({ ports: z.array(z.object({ name: z.string(), targetPort: z.string() })) }),
})

/** Each the name of a container's port, and a path. */
const scrapedAtPods = (objects: readonly KubernetesObject[]): readonly string[] =>
  objectsOf(objects, 'PodMonitor').flatMap(object =>
    podMonitor.parse(object).spec.podMetricsEndpoints.map(({ port, path }) => `${port}${path}`),
  )

/** A ServiceMonitor goes by the labels of Services and the names of their ports. */
const scrapedByServices = (objects: readonly KubernetesObject[]): readonly string[] => {
  const services = objectsOf(objects, 'Service').map(object => service.parse(object))
  return objectsOf(objects, 'ServiceMonitor').flatMap(object => {
    const { selector, endpoints } = serviceMonitor.parse(object).spec
    const wanted = Object.entries(selector.matchLabels)
    return services
      .filter(({ metadata: { labels } }) => wanted.every(([name, value]) => labels[name] === value))
      .flatMap(({ spec }) => spec.ports)
      .flatMap(({ name, targetPort }) =>
        endpoints.filter(({ port }) => port === name).map(({ path }) => `${targetPort}${path}`),
      )
  })
}
