import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KubernetesObject, parseObjects } from '../kubernetes/objects.ts'

export const chart = join(import.meta.dirname, '../../../deploy/helm/sidegate')

/**
 * The rendered chart for every set of values. It is kept in the repository, because no package of Debian or npm has
 * Helm.
 */
export const rendered = join(import.meta.dirname, 'rendered')

/** The sets of values that it is rendered with: the chart's own, and every file in its folder ci/. */
export const valueSets: readonly string[] = [
  'default',
  ...readdirSync(join(chart, 'ci')).map(file => file.replace('-values.yaml', '')),
]

/** The file of a set's values; the chart's own need none. */
export const valuesFile = (set: string): string | undefined =>
  set === 'default' ? undefined : join(chart, 'ci', `${set}-values.yaml`)

/** A digest over every file of the chart and its name: what was rendered from another chart bears another. */
export const chartDigest = (): string => {
  const hash = createHash('sha256')
  for (const file of chartFiles()) {
    hash.update(`${file}\n`).update(readFileSync(join(chart, file)))
  }
  return hash.digest('hex')
}

const chartFiles = (): readonly string[] =>
  readdirSync(chart, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(chart.length + 1))
    .sort()

/** The first line of every rendered file. */
export const headLine = (digest: string): string => `# Rendered by Helm from the chart with the SHA-256 ${digest}.`

/** The rendered chart with these values, and the line with the name of the chart. */
export const readRendered = (set: string): { readonly head: string; readonly objects: readonly KubernetesObject[] } => {
  const text = readFileSync(join(rendered, `${set}.yaml`), 'utf8')
  return { head: text.slice(0, text.indexOf('\n')), objects: parseObjects(text) }
}
