import { fetchFreshMetrics } from '../../support/fresh-metrics.ts'

/** A parsed scrape, as Prometheus would read it. */
export interface Exposition {
  /** `# TYPE` by metric name. */
  readonly types: ReadonlyMap<string, string>
  readonly helps: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
}

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** In OpenMetrics only; its timestamp is in seconds. */
  readonly exemplar?: {
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
    readonly timestamp: number
  }
}

/** Reads the text format 0.0.4 or OpenMetrics 1.0. Throws at the first line that is neither a comment nor a sample. */
export const parseExposition = (text: string): Exposition => {
  const types = new Map<string, string>()
  const helps = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'TYPE') types.set(name, rest)
    else if (kind === 'HELP') helps.set(name, rest)
    else if (line !== '' && line !== '# EOF') samples.push(parseSample(line))
  }
  return { types, helps, samples }
}

const number = String.raw`-?[\d.]+(?:e[+-]?\d+)?|[+-]Inf|NaN`
const samplePattern = new RegExp(
  String.raw`^([a-zA-Z_:][\w:]*)(?:\{(.*?)\})? (${number})(?: # \{(.*)\} (${number}) (${number}))?$`,
)

const parseSample = (line: string): Sample => {
  const parts = samplePattern.exec(line)
  if (!parts) throw new Error(`this is no sample: ${line}`)
  const [, name = '', labels = '', value = '', exemplarLabels, exemplarValue = '', timestamp = ''] = parts
  return {
    name,
    labels: parseLabels(labels),
    value: Number(value.replace('Inf', 'Infinity')),
    ...(exemplarLabels !== undefined && {
      exemplar: {
        labels: parseLabels(exemplarLabels),
        value: Number(exemplarValue),
        timestamp: Number(timestamp),
      },
    }),
  }
}

const parseLabels = (text: string): Readonly<Record<string, string>> => {
  const pairs = [...text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)]
  const isWhole = pairs.map(([whole]) => whole).join(',') === text
  if (!isWhole) throw new Error(`these are no labels: ${text}`)
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}

/** Names a series: its metric and labels. */
export const seriesOf = ({ name, labels }: Sample): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .sort()
    .join(',')}}`

/** The sum of all samples of this name that have these labels. */
export const sumOf = (exposition: Exposition, name: string, labels: Readonly<Record<string, string>> = {}): number =>
  exposition.samples
    .filter(sample => sample.name === name)
    .filter(sample => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, sample) => sum + sample.value, 0)

export const scrape = async (admin: string): Promise<Exposition> => {
  const response = await fetchFreshMetrics(admin)
  return parseExposition(await response.text())
}

const onlyGrows = (name: string): boolean => /_(total|count|bucket|sum)$/.test(name)

/** The series of `before` that may only grow but are smaller or missing in `after`; empty if there is no fault. */
export const shrunkBetween = (before: Exposition, after: Exposition): readonly string[] => {
  const values = new Map(after.samples.map(sample => [seriesOf(sample), sample.value]))
  return before.samples
    .filter(sample => onlyGrows(sample.name) && !((values.get(seriesOf(sample)) ?? -1) >= sample.value))
    .map(sample => `${seriesOf(sample)} ${sample.value} -> ${values.get(seriesOf(sample))}`)
}
