import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

export const folder = join(import.meta.dirname, '../../../deploy/compose')

export const readYaml = (file: string): unknown => parse(readFileSync(join(folder, file), 'utf8'))

const specification = z.fromJSONSchema(
  JSON.parse(readFileSync(join(import.meta.dirname, 'compose-spec.schema.json'), 'utf8')),
)

/** Everything in the file that Compose would refuse, each with its place. */
export const findSchemaProblems = (project: unknown): readonly string[] =>
  (specification.safeParse(project).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)

const service = z.object({
  image: z.string(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  entrypoint: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()),
})
export type Service = z.infer<typeof service>

const project = z.object({
  services: z.object({
    sidegate: service,
    accounts: service,
    redis: service,
    prometheus: service,
    jaeger: service,
    grafana: service,
  }),
  volumes: z.record(z.string(), z.null()),
})
export type Project = z.infer<typeof project>

/** @throws ZodError where a service or a member that the tests rely on is not there */
export const readProject = (): Project => project.parse(readYaml('compose.yaml'))

/** `HOST:PORT:PORT`, and which of the two ports is the container's own. */
export const toPublished = (port: string): { readonly host: string; readonly own: number } => {
  const [host = '', , own = ''] = port.split(':')
  return { host, own: Number(own) }
}

/** `SOURCE:TARGET[:ro]` */
export const toMount = (volume: string): { readonly source: string; readonly target: string } => {
  const [source = '', target = ''] = volume.split(':')
  return { source, target }
}
