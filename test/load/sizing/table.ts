import type { Figures } from './figures.ts'
import { type Load, loads, type Need, toNeed } from './need.ts'

const headings = [
  'requests/s',
  'clients',
  'people',
  'worker cores',
  'pods of 4',
  'their memory',
  'Redis',
  'calls/s',
  'its cores',
  'its memory',
]

/** The resources for each load, as Markdown. */
export const toSizingTable = (figures: Figures): string => {
  const rows = loads.map(load => toCells(load, toNeed(load, figures)))
  return [toLine(headings), `|${headings.map(() => '---:|').join('')}`, ...rows.map(toLine)].join('\n')
}

const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const toCells = (load: Load, need: Need): readonly string[] => [
  ...[load.requestsPerSec, load.clients, load.people].map(toWhole),
  toCores(need.workerCores),
  toWhole(need.pods),
  toMemory(need.gatewayBytes),
  need.redisPrimaries === 1 ? 'one' : `Cluster of ${need.redisPrimaries}`,
  toWhole(need.redisCallsPerSec),
  toCores(need.redisCores),
  toMemory(need.redisBytes),
]

const toWhole = (count: number): string => Number(count.toPrecision(2)).toLocaleString('en-US')

const toCores = (cores: number): string => (cores < 0.1 ? '< 0.1' : cores < 10 ? cores.toFixed(1) : toWhole(cores))

const toMemory = (bytes: number): string =>
  bytes < 1e9 ? `${toWhole(bytes / 1e6)} MB` : `${Number((bytes / 1e9).toPrecision(2))} GB`
