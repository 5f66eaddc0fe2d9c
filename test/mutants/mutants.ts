/** `npm run mutants`: README.md says how to use it. */
import { join } from 'node:path'
import { allMutants } from './all-mutants.ts'
import type { Mutant } from './mutant.ts'
import { type MutantsOptions, parseMutantsOptions, usage } from './options.ts'
import { type MutantResult, runMutants } from './run-mutants.ts'

const checkout = join(import.meta.dirname, '../..')

/** @returns the exit code: 0 if a test noticed each fault, 1 if not, 2 for arguments that make no sense */
const main = async (args: readonly string[]): Promise<number> => {
  const options = read(args)
  if (options === undefined) return 2
  const mutants = choose(options.words)
  if (mutants.length === 0) return complain('no fault has such a word in its name or file; --list prints them')
  if (options.isList) {
    for (const { name, file } of mutants) console.log(`${file}: ${name}`)
    return 0
  }
  console.log(`${mutants.length} faults; their tests run without a fault first`)
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interruption.abort())
  const results = await runMutants({ ...options, checkout, mutants, signal: interruption.signal, onResult: print })
  return summarize(results, mutants.length)
}

const read = (args: readonly string[]): MutantsOptions | undefined => {
  try {
    return parseMutantsOptions(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`)
    return undefined
  }
}

const choose = (words: readonly string[]): readonly Mutant[] =>
  words.length === 0
    ? allMutants
    : allMutants.filter(({ name, file }) => words.some(word => name.includes(word) || file.includes(word)))

const complain = (sentence: string): number => {
  console.error(sentence)
  return 2
}

const print = ({ mutant, verdict, detail, durationMs }: MutantResult): void =>
  console.log(`${verdict.padEnd(8)} ${(durationMs / 1000).toFixed(1).padStart(6)} s  ${mutant.name} — ${detail}`)

const summarize = (results: readonly MutantResult[], wanted: number): number => {
  const ofVerdict = (verdict: MutantResult['verdict']) => results.filter(result => result.verdict === verdict)
  const [killed, survived, invalid] = [ofVerdict('killed'), ofVerdict('survived'), ofVerdict('invalid')]
  for (const result of [...survived, ...invalid])
    console.log(`\n${result.mutant.file}: ${result.mutant.name}\n  ${result.verdict}: ${result.detail}`)
  const missing = wanted - results.length
  console.log(
    `\n${killed.length} killed, ${survived.length} survived, ${invalid.length} invalid${missing > 0 ? `, ${missing} not tested` : ''}`,
  )
  return killed.length === wanted ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
