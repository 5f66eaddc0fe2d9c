import { parseAllDocuments } from 'yaml'
import { z } from 'zod'

const labels = z.record(z.string(), z.string())

const kubernetesObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), labels: labels.default({}) }),
})
export type KubernetesObject = z.infer<typeof kubernetesObject>

/**
 * The objects of a stream of YAML documents, empty ones left out.
 * @throws ZodError if a document is not an object of Kubernetes
 */
export const parseObjects = (text: string): readonly KubernetesObject[] =>
  parseAllDocuments(text)
    .map(document => {
      for (const error of document.errors) throw error
      return document.toJS() as unknown
    })
    .filter(content => content !== null)
    .map(content => kubernetesObject.parse(content))

/** The objects of a kind, in their order. */
export const objectsOf = (objects: readonly KubernetesObject[], kind: string): readonly KubernetesObject[] =>
  objects.filter(object => object.kind === kind)

/** @throws Error unless there is exactly one of the kind */
export const onlyOne = (objects: readonly KubernetesObject[], kind: string): KubernetesObject => {
  const [found, ...others] = objectsOf(objects, kind)
  if (found === undefined || others.length > 0) throw new Error(`not one ${kind} among ${objects.length} objects`)
  return found
}
