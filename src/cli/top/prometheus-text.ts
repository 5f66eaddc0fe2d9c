/** The samples of a scrape: values by the text of their series. */
export type Samples = ReadonlyMap<string, number>

/** A parsed series. */
export interface Series {
  readonly name: string
  /** Label values with printable ASCII characters only, because other characters may control the terminal. */
  readonly labels: Readonly<Record<string, string | undefined>>
}

/** Parses Prometheus text 0.0.4, or OpenMetrics 1.0. Comments and invalid lines are skipped. */
export const parseExposition = (text: string): Samples => {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, series, value] = line.length > longestLine ? [] : (sampleForm.exec(line) ?? [])
    if (series !== undefined && value !== undefined) samples.set(series, Number(value.replace('Inf', 'Infinity')))
  }
  return samples
}

/** Maximum length of a line. Regular expressions fail with an error on lines of millions of characters. */
const longestLine = 65_536

/** A name, labels if there are any, and a value; a timestamp or an exemplar may follow. */
const sampleForm = /^([a-zA-Z_:][\w:]*(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?) (\S+)/

/** @param series as in the samples of a scrape */
export const parseSeries = (series: string): Series => {
  const [name = ''] = /^[\w:]+/.exec(series) ?? []
  const labels = [...series.matchAll(labelForm)].map(([, label = '', value = '']) => [label, toPrintable(value)])
  return { name, labels: Object.fromEntries(labels) }
}

const labelForm = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const toPrintable = (value: string): string =>
  value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '?' : escaped)).replace(/[^\x20-\x7e]/g, '?')
