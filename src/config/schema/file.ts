import { z } from 'zod'
import { clientsSchema, usersSchema } from './clients.ts'
import { groupingsSchema } from './groupings.ts'
import { plansSchema } from './plans.ts'
import { loginSchema, topLevelSchema } from './top-level.ts'
import { upstreamsSchema } from './upstreams.ts'

/** The whole configuration file, built from the same parts that check it section by section. */
export const fileSchema = z.strictObject({
  ...topLevelSchema.shape,
  plans: plansSchema,
  groupings: groupingsSchema,
  upstreams: upstreamsSchema,
  clients: clientsSchema,
  login: z
    .strictObject({ ...loginSchema.shape, users: usersSchema })
    .prefault({})
    .describe('How users sign in.'),
})

/** JSON Schema (draft 2020-12) of the file as it is written, for editors. It does not include the cross checks. */
export const configJsonSchema = (): Readonly<Record<string, unknown>> => ({
  title: 'Configuration of Sidegate',
  ...z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }),
})
