/**
 * What a load takes: cores, pods, memory and Redis, reckoned from measured figures. Prints the table of the README; who has
 * measured anew hands in what is different: `node test/load/sizing.ts --forwarded 20000 --tokens 12000`.
 */
import { parseArgs } from 'node:util'
import { type Figures, measured } from './sizing/figures.ts'
import { type Load, loads, type Need, toNeed } from './sizing/need.ts'

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

const main = (): void => {
  const figures = readFigures()
  const rows = loads.map(load => toCells(load, toNeed(load, figures)))
  for (const cells of [headings, headings.map(() => '---:'), ...rows]) print(cells)
}

/** @throws TypeError for a figure that is not one */
const readFigures = (): Figures => {
  const names = Object.keys(measured)
  const options = Object.fromEntries(names.map(name => [name, { type: 'string' }] as const))
  const { values } = parseArgs({ options })
  return {
    ...measured,
    ...Object.fromEntries(Object.entries(values).map(([name, text]) => [name, toFigure(name, text)])),
  }
}

const toFigure = (name: string, text: unknown): number => {
  const figure = Number(text)
  if (!(figure > 0)) throw new TypeError(`--${name} takes a number above 0, not ${text}`)
  return figure
}

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

const print = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`)

main()
