import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseDurationMs } from '../../../src/config/values/units.ts'

const stated = z.object({ default: z.string() })
const { properties } = z
  .object({
    properties: z.object({
      listen: stated,
      admin: stated,
      shutdown: z.object({ properties: z.object({ delay: stated, timeout: stated }) }),
    }),
  })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../../config/sidegate.schema.json'), 'utf8')))

const portIn = (address: string): number => Number(address.split(':').at(-1))

/** The defaults in the published schema of the configuration. */
export const statedDefaults = {
  port: portIn(properties.listen.default),
  adminPort: portIn(properties.admin.default),
  delayMs: parseDurationMs(properties.shutdown.properties.delay.default),
  timeoutMs: parseDurationMs(properties.shutdown.properties.timeout.default),
} as const
