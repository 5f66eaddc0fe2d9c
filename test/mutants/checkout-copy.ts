import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Mutant, mutate } from './mutant.ts'

/** Folders that tests do not read, or that are linked. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git', '.tap', 'dist', 'data'])

/** A copy of the checkout, in which one mutant after another is planted. Its packages are those of the checkout. */
export class CheckoutCopy {
  /** The top of the copy. */
  readonly root: string
  /** The copy's own place for the temporary files of tests. */
  readonly temporary: string

  /** @param dir a folder that is there, for this copy alone */
  constructor(checkout: string, dir: string) {
    this.root = join(dir, 'c')
    this.temporary = join(dir, 't')
    mkdirSync(this.temporary)
    cpSync(checkout, this.root, { recursive: true, filter: path => path === checkout || !leftOut.has(basename(path)) })
    symlinkSync(join(checkout, 'node_modules'), join(this.root, 'node_modules'))
  }

  /**
   * Plants the mutant.
   * @returns takes it out again
   * @throws Error a sentence for the terminal, where the text is not found exactly once or the result is no TypeScript
   */
  plant(mutant: Mutant): () => void {
    const file = join(this.root, mutant.file)
    const original = readFileSync(file, 'utf8')
    writeFileSync(file, mutate(original, mutant))
    return () => writeFileSync(file, original)
  }
}
