import type { Samples } from './prometheus-text.ts'
import type { Scrape } from './scrape.ts'

/** By how much the counters have grown from one scrape to another. */
export interface CounterDeltas {
  readonly sec: number
  /** Of counters and histograms alone. */
  readonly samples: Samples
}

/** Where one counter has gone down the program was started anew, and all of them have grown from nothing. */
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
