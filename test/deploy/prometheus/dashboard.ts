import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

export const dashboardFile = join(import.meta.dirname, '../../../deploy/grafana/sidegate.json')

const target = z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })

const panel = z.object({
  id: z.int(),
  type: z.string(),
  title: z.string(),
  description: z.string(),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  datasource: z.object({ type: z.literal('prometheus'), uid: z.string() }),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }),
  targets: z.array(target).min(1),
})
export type Panel = z.infer<typeof panel>

const row = z.object({ id: z.int(), type: z.literal('row'), title: z.string(), gridPos: panel.shape.gridPos })

const variable = z.discriminatedUnion('type', [
  z.object({ type: z.literal('datasource'), name: z.string(), query: z.literal('prometheus') }),
  z.object({ type: z.literal('query'), name: z.string(), query: z.object({ query: z.string() }) }),
])

/** As much of Grafana's dashboard as the tests rely on. */
export const dashboard = z
  .object({
    uid: z.string(),
    schemaVersion: z.int(),
    templating: z.object({ list: z.array(variable) }),
    panels: z.array(z.union([row, panel])),
  })
  .parse(JSON.parse(readFileSync(dashboardFile, 'utf8')))

/** Those that show something. */
export const panels: readonly Panel[] = dashboard.panels.filter(found => 'targets' in found)

/** The choices at the top that Prometheus is asked for. */
export const variables: readonly { readonly name: string; readonly query: string }[] =
  dashboard.templating.list.flatMap(found =>
    found.type === 'query' ? [{ name: found.name, query: found.query.query }] : [],
  )

/** A query as Grafana sends it when everything is chosen. */
export const fillIn = (query: string): string => query.replaceAll('$__rate_interval', '1m').replace(/\$\w+/g, '.+')

const fallback = / or (?:on \(\w*\) )?(?:vector\(0\)|0 \* sum by \(\w+\) \((?:\w+{[^}]*}|rate\(\w+{[^}]*}\[\w+\]\))\))/g

/** A filled-in query without what stands in for series that nothing has happened to yet. */
export const withoutFallback = (query: string): string => query.replaceAll(fallback, '')
