import { resolve } from 'node:path'
import { readTextFile } from '../../files/text-file.ts'
import { ownMember } from '../../own-member.ts'
import type { Fault, Path } from './diagnostic.ts'
import { unreadableFile } from './tls-files.ts'
import { walkTree } from './walk-tree.ts'

/** All secrets of the configuration, and key sets. Each may be given as `<name>_file`, a file that contains it. */
const names = ['client_secret', 'client_secret_hash', 'password_hash', 'store', 'jwks'] as const

/** The origin of a value, so that its problems are reported there. */
export interface ValueFile {
  readonly path: Path
  readonly filePath: Path
}

export interface ValueFiles {
  readonly read: readonly ValueFile[]
  readonly faults: readonly Fault[]
}

/**
 * Reads a text file.
 * @throws Error with a `code` that gives the reason
 */
export type ReadText = (path: string) => Promise<string>

export const readText: ReadText = readTextFile

/**
 * Puts the content of every `<name>_file` into the tree as `<name>`, in place. One trailing newline is stripped.
 * @param folder the folder of the configuration file; relative file names start from it
 */
export const readValueFiles = async (tree: unknown, folder: string, read: ReadText = readText): Promise<ValueFiles> => {
  const found: ValueFile[] = []
  const faults: Fault[] = []
  for (const { mapping, place, name, file } of findNamedFiles(tree)) {
    const filePath = [...place, `${name}_file`]
    delete mapping[`${name}_file`]
    found.push({ path: [...place, name], filePath })
    if (Object.hasOwn(mapping, name)) {
      faults.push({ path: filePath, at: 'key', message: `${name} is set as well; keep one of the two` })
      continue
    }
    try {
      const content = await read(resolve(folder, file))
      mapping[name] = content.replace(/\r?\n$/, '')
    } catch (error) {
      const reason = unreadableFile(error as NodeJS.ErrnoException)
      faults.push({ path: filePath, at: 'value', message: `${reason}, or give the value itself as ${name}` })
    }
  }
  return { read: found, faults }
}

/** A mapping that names a file for one of its values. */
interface NamedFile {
  readonly mapping: Record<string, unknown>
  readonly place: Path
  readonly name: (typeof names)[number]
  readonly file: string
}

const nameByKey: ReadonlyMap<string | number, NamedFile['name']> = new Map(names.map(name => [`${name}_file`, name]))

const findNamedFiles = (tree: unknown): readonly NamedFile[] => {
  const found: NamedFile[] = []
  walkTree(tree, (mapping, key, place) => {
    const name = nameByKey.get(key)
    const file = ownMember(mapping, key)
    if (name && typeof file === 'string') found.push({ mapping, place: [...place], name, file })
  })
  return found
}
