import { stripTypeScriptTypes } from 'node:module'

/** A fault that is planted in a copy of the source. At least one of its test files must fail then. */
export interface Mutant {
  /** The planted fault: `the gateway ignores the expiry of a JWT`. */
  readonly name: string
  /** The file that has the fault, from the top of the checkout. */
  readonly file: string
  /** A text that the file has exactly once. */
  readonly find: string
  /** The text that takes its place. */
  readonly replace: string
  /** Test files that should notice the fault, the fastest first. They run in this order until one fails. */
  readonly tests: readonly string[]
  /**
   * A regular expression, as tap's `--grep` takes it: only the top-level tests with such a title run. Left out: all
   * run.
   */
  readonly only?: string
}

/** How often the file has the text of the mutant. */
export const countOf = (text: string, { find }: Pick<Mutant, 'find'>): number => text.split(find).length - 1

/**
 * The text of the file with the fault in it.
 * @throws Error a sentence for the terminal, where the text cannot be mutated as the table says
 */
export const mutate = (text: string, mutant: Mutant): string => {
  const count = countOf(text, mutant)
  if (count !== 1) throw new Error(`${mutant.file} has the text ${count} times, not once: ${mutant.find}`)
  const [before = '', after = ''] = text.split(mutant.find)
  const mutated = before + mutant.replace + after
  if (mutated === text) throw new Error(`the replacement changes nothing in ${mutant.file}`)
  try {
    stripTypeScriptTypes(mutated)
  } catch {
    throw new Error(`${mutant.file} is no TypeScript with this replacement: ${mutant.replace}`)
  }
  return mutated
}
