/**
 * The objects that the API of Kubernetes and the Prometheus operator accept: their own schemas, as strict as
 * `kubectl apply`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { KubernetesObject } from './objects.ts'

const description = z.object({
  kinds: z.record(z.string(), z.string()),
  $defs: z.record(z.string(), z.unknown()),
})

const readDescription = (file: string): z.infer<typeof description> =>
  description.parse(JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')))

const kubernetes = readDescription('kubernetes-1.37.schema.json')
const operator = readDescription('prometheus-operator-0.85.schema.json')
const kinds = { ...kubernetes.kinds, ...operator.kinds }
const $defs = { ...kubernetes.$defs, ...operator.$defs }

const schemas = new Map<string, z.ZodType>()

/** Everything in an object that Kubernetes would refuse, each with its path. A kind without a schema is refused. */
export const findSchemaProblems = (object: KubernetesObject): readonly string[] => {
  const schema = schemaOf(`${object.apiVersion} ${object.kind}`)
  if (schema === undefined) return [`${object.apiVersion} ${object.kind} is not described`]
  const issues = schema.safeParse(object).error?.issues ?? []
  return issues.map(issue => `${object.kind} ${object.metadata.name}: ${issue.path.join('.')}: ${issue.message}`)
}

const schemaOf = (kind: string): z.ZodType | undefined => {
  const reference = kinds[kind]
  if (reference === undefined) return undefined
  const schema = schemas.get(kind) ?? z.fromJSONSchema({ $ref: reference, $defs } as z.core.JSONSchema.JSONSchema)
  schemas.set(kind, schema)
  return schema
}
