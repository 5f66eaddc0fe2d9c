/** The samples of a scrape: values by the text of their series, as it stands in the scrape. */
export type Samples = ReadonlyMap<string, number>

/** A series taken apart. */
export interface Series {
  readonly name: string
  /** The values of printable ASCII alone: they are shown on terminals, where other characters may do something. */
  readonly labels: Readonly<Record<string, string | undefined>>
}

/** Reads Prometheus text 0.0.4, or OpenMetrics 1.0. Comments, and lines that are no samples, are passed over. */
export const parseExposition = (text: string): Samples => {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, series, value] = line.length > longestLine ? [] : (sampleForm.exec(line) ?? [])
    if (series !== undefined && value !== undefined) samples.set(series, Number(value.replace('Inf', 'Infinity')))
  }
  return samples
}

/** In characters. Regular expressions give up, with an error, on lines of millions. */
const longestLine = 65_536

/** A name and perhaps labels, a value; what may follow is when, or an example. */
const sampleForm = /^([a-zA-Z_:][\w:]*(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?) (\S+)/

/** @param series as the samples of a scrape have it */
export const parseSeries = (series: string): Series => {
  const [name = ''] = /^[\w:]+/.exec(series) ?? []
  const labels = [...series.matchAll(labelForm)].map(([, label = '', value = '']) => [label, toPrintable(value)])
  return { name, labels: Object.fromEntries(labels) }
}

const labelForm = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const toPrintable = (value: string): string =>
  value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '?' : escaped)).replace(/[^\x20-\x7e]/g, '?')
