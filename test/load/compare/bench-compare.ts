import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Programs } from '../program.ts'
import { createScenarios, type Scenario } from '../scenario.ts'
import { type Load, measure } from '../wrk.ts'
import { type Comparison, isWithin, type Pair, toCompareTable } from './comparison.ts'
import type { CompareOptions } from './options.ts'

/** Before the first pair, for each version: V8 compiles what is hot. */
const warmUpSec = 5

/**
 * Runs this checkout and another version side by side, on the same core, and puts one after the other under load for
 * a second, in alternating order. Prints the ratio of their CPU per request. Resolves to whether the checkout takes
 * at most 3 % more.
 */
export const benchCompare = async (options: CompareOptions, interruption: AbortSignal): Promise<boolean> => {
  const dir = mkdtempSync(join(tmpdir(), 'sidegate-compare-'))
  const programs = new Programs()
  try {
    const own = createScenarios(programs, mkdtempSync(join(dir, 'own-')))
    const other = createScenarios(programs, mkdtempSync(join(dir, 'other-')), resolve(options.program))
    const comparisons: Comparison[] = []
    for (const name of options.names) {
      const [ownScenario, otherScenario] = [find(own, name), find(other, name)]
      const loads = { own: await ownScenario.load(), other: await otherScenario.load() }
      comparisons.push({ title: ownScenario.title, pairs: await measurePairs(loads, options, interruption) })
      console.error(`${name}: measured ${options.rounds} pairs`)
    }
    console.log(toCompareTable(comparisons))
    return isWithin(comparisons)
  } finally {
    await programs[Symbol.asyncDispose]()
    rmSync(dir, { recursive: true, force: true })
  }
}

const find = (scenarios: readonly Scenario[], name: string): Scenario => {
  const found = scenarios.find(scenario => scenario.name === name)
  if (found === undefined) throw new TypeError(`unknown: ${name}`)
  return found
}

const measurePairs = async (
  loads: Readonly<Record<'own' | 'other', Load>>,
  { durationSec, rounds }: CompareOptions,
  interruption: AbortSignal,
): Promise<readonly Pair[]> => {
  await measure(loads.other, warmUpSec, interruption)
  await measure(loads.own, warmUpSec, interruption)
  const pairs: Pair[] = []
  for (let round = 0; round < rounds; round++) {
    const isOwnFirst = round % 2 === 0
    const first = await measure(isOwnFirst ? loads.own : loads.other, durationSec, interruption)
    const second = await measure(isOwnFirst ? loads.other : loads.own, durationSec, interruption)
    pairs.push(isOwnFirst ? { own: first, other: second } : { own: second, other: first })
  }
  return pairs
}
