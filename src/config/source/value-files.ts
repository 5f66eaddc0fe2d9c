import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Fault, Path } from './problem.ts'

/** Everything secret in the configuration, and sets of keys. Each may be given as `<name>_file`, a file that holds it. */
const names = ['client_secret', 'client_secret_hash', 'password_hash', 'store', 'jwks'] as const

/** Where a value came from, so that what is wrong with it can be said there. */
export interface ValueFile {
  readonly path: Path
  readonly filePath: Path
}

export interface ValueFiles {
  readonly read: readonly ValueFile[]
  readonly faults: readonly Fault[]
}

/**
 * Puts the content of every `<name>_file` into the tree as `<name>`, in place; one trailing newline is stripped.
 * @param folder what relative file names start from: the folder of the configuration file
 */
export const readValueFiles = async (tree: unknown, folder: string): Promise<ValueFiles> => {
  const read: ValueFile[] = []
  const faults: Fault[] = []
  for (const { mapping, path } of mappingsOf(tree, [])) {
    for (const name of names) {
      const file = mapping[`${name}_file`]
      if (typeof file !== 'string') continue
      const filePath = [...path, `${name}_file`]
      delete mapping[`${name}_file`]
      read.push({ path: [...path, name], filePath })
      if (Object.hasOwn(mapping, name)) {
        faults.push({ path: filePath, at: 'key', message: `${name} is given as well; keep one of the two` })
        continue
      }
      const absolute = resolve(folder, file)
      const content = await readFile(absolute, 'utf8').catch(toReason)
      if (typeof content === 'string') mapping[name] = content.replace(/\r?\n$/, '')
      else
        faults.push({
          path: filePath,
          at: 'value',
          message: `${absolute} cannot be read (${content.reason}); name a file that can`,
        })
    }
  }
  return { read, faults }
}

const toReason = (error: NodeJS.ErrnoException): { readonly reason: string } => ({ reason: error.code ?? error.name })

interface MappingAt {
  readonly mapping: Record<string, unknown>
  readonly path: Path
}

const mappingsOf = (value: unknown, path: Path): readonly MappingAt[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => mappingsOf(item, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  const mapping = value as Record<string, unknown>
  return [{ mapping, path }, ...Object.entries(mapping).flatMap(([key, item]) => mappingsOf(item, [...path, key]))]
}
