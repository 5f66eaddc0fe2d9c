import { createHash } from 'node:crypto'
import type { ConfigSource } from '../cluster/primary/config-source.ts'
import { formatProblem, loadConfig } from '../config/load.ts'
import { readTextFile, stateOfFile } from '../files/text-file.ts'

/** A file as it was read. */
interface Reading {
  /** A text that differs after every change of the file. */
  readonly state: string
  readonly digest: string
}

/** The configuration in a file, with the files that it names for its values. */
export const createConfigSource = (file: string): ConfigSource => {
  let readings = new Map<string, Reading>()
  /** The last result of `current`, so that it reads a changed file only once. */
  let looked = readings
  return {
    async load() {
      const read = new Map<string, Reading>()
      const loaded = await loadConfig(file, process.env, undefined, path => readNoting(path, read))
      readings = looked = read
      return loaded.ok ? loaded : { ok: false, problems: loaded.problems.map(formatProblem) }
    },
    loaded: () => toText(readings),
    async current() {
      const before = looked
      const now = new Map<string, Reading>()
      for (const [path, reading] of before) now.set(path, await look(path, reading))
      // A load may have read other files meanwhile, and later.
      if (looked === before) looked = now
      return toText(looked)
    },
  }
}

const readNoting = async (path: string, readings: Map<string, Reading>): Promise<string> => {
  const state = await stateOf(path)
  try {
    const text = await readTextFile(path)
    readings.set(path, { state, digest: digestOf(text) })
    return text
  } catch (error) {
    readings.set(path, { state, digest: '' })
    throw error
  }
}

/** A file that has not changed is not read again, because it may be large. */
const look = async (path: string, before: Reading): Promise<Reading> => {
  const state = await stateOf(path)
  if (state === before.state) return before
  return { state, digest: await readTextFile(path).then(digestOf, () => '') }
}

const stateOf = (path: string): Promise<string> =>
  stateOfFile(path).catch((error: NodeJS.ErrnoException) => error.code ?? error.name)

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')

const toText = (readings: ReadonlyMap<string, Reading>): string =>
  [...readings].map(([path, { digest }]) => `${digest} ${path}`).join('\n')
