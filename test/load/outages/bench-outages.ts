import { clusterForms } from './cluster-forms.ts'
import type { Form } from './form.ts'
import { measureOutage } from './measurement.ts'
import { isKept, type Row, toMarkdown } from './report.ts'
import { sentinelForms } from './sentinel-forms.ts'
import { singleForms } from './single-forms.ts'

export const outagesUsage = 'npm run bench -- outages [form ...]'

const forms: readonly Form[] = [...singleForms, ...sentinelForms, ...clusterForms]

/** How often an outage is measured again that a busy machine may have spoilt. */
const mostAttempts = 3

/** The named forms, or all without names. Throws a TypeError that says which there are. */
export const chooseForms = (names: readonly string[]): readonly Form[] => {
  const unknown = names.filter(name => !forms.some(form => form.name === name))
  if (unknown.length > 0)
    throw new TypeError(`unknown: ${unknown.join(', ')}; there are ${forms.map(({ name }) => name).join(', ')}`)
  return names.length === 0 ? forms : forms.filter(({ name }) => names.includes(name))
}

/** Takes Redis away in every form, and prints what clients saw of it. Resolves to whether every promise was kept. */
export const benchOutages = async (chosen: readonly Form[], interruption: AbortSignal): Promise<boolean> => {
  const rows: Row[] = []
  for (const form of chosen) rows.push(await measureAnew(form, interruption))
  console.log(toMarkdown(rows))
  return rows.every(isKept)
}

const measureAnew = async (form: Form, interruption: AbortSignal): Promise<Row> => {
  for (let attempt = 1; ; attempt++) {
    const row = { title: form.title, measurement: await measureOutage(form, interruption) }
    console.error(`${form.name}, attempt ${attempt}: ${isKept(row) ? 'kept' : JSON.stringify(row.measurement)}`)
    if (isKept(row) || attempt === mostAttempts) return row
  }
}
