import type { Samples } from './prometheus-text.ts'
import type { Scrape } from './scrape.ts'

/** The increases of the counters from one scrape to the next. */
export interface CounterDeltas {
  readonly sec: number
  /** For counters and histograms only. */
  readonly samples: Samples
}

/** If one counter has decreased, the program was restarted, and all counters have increased from 0. */
export const counterDeltas = (before: Scrape, now: Scrape): CounterDeltas => {
  const base = hasRestarted(before.samples, now.samples) ? new Map<string, number>() : before.samples
  const samples = new Map<string, number>()
  for (const [series, value] of now.samples) if (isCounter(series)) samples.set(series, value - (base.get(series) ?? 0))
  return { sec: (now.atMs - before.atMs) / 1000, samples }
}

const hasRestarted = (before: Samples, now: Samples): boolean => {
  for (const [series, value] of before) if (isCounter(series) && !((now.get(series) ?? -1) >= value)) return true
  return false
}

const isCounter = (series: string): boolean => /^\w+_(?:total|bucket|count|sum)(?:\{|$)/.test(series)
