import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

export const folder = join(import.meta.dirname, '../../../deploy/prometheus')
export const rulesFile = join(folder, 'rules.yaml')

const alert = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.object({ summary: z.string(), description: z.string(), runbook: z.string() }),
})
export type Alert = z.infer<typeof alert>

const recording = z.object({ record: z.string(), expr: z.string() })

const file = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      interval: z.string().optional(),
      rules: z.array(z.union([alert.strict(), recording.strict()])),
    }),
  ),
})

/** The contents of rules.yaml. */
export const { groups } = file.parse(parse(readFileSync(rulesFile, 'utf8')))

const rules = groups.flatMap(group => group.rules)
export const alerts: readonly Alert[] = rules.filter(rule => 'alert' in rule)
export const recorded: readonly string[] = rules.flatMap(rule => ('record' in rule ? [rule.record] : []))
export const expressions: readonly string[] = rules.map(({ expr }) => expr)
