import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { fileError, withinDeadline } from './deadline.ts'

/** Without O_NONBLOCK, open(2) of a named pipe waits for a writer. Regular files ignore the flag. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Reads a regular file of at most 64 MiB, within a deadline.
 * @throws Error with a `code`: the one of the system, or a few words
 */
export const readTextFile = (path: string): Promise<string> =>
  withinDeadline(path, async () => {
    // A device must not be opened, because that may change its state.
    requireRegular(await stat(path), path)
    await using file = await open(path, openFlags)
    // Another file may have been put in its place since then.
    requireRegular(await file.stat(), path)
    return await file.readFile('utf8')
  })

/** Reads a small file synchronously, at the start. A file system that hangs blocks the process. */
export const readTextFileSync = (path: string): string => {
  requireRegular(statSync(path), path)
  const descriptor = openSync(path, openFlags)
  try {
    requireRegular(fstatSync(descriptor), path)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * A text that differs after every change of the file that the links lead to. It contains the inode, which changes if
 * the file is replaced.
 */
export const stateOfFile = (path: string): Promise<string> =>
  withinDeadline(path, async () => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return `${dev},${ino},${size},${mtimeNs},${ctimeNs}`
  })

/** Reads files repeatedly. A file whose state has not changed is not read again. */
export interface TextFiles {
  /** @throws Error with a `code`: the one of the system, or a few words */
  read(path: string): Promise<string>
}

export const createTextFiles = (): TextFiles => {
  const known = new Map<string, { readonly state: string; readonly text: string }>()
  return {
    async read(path) {
      const state = await stateOfFile(path)
      const before = known.get(path)
      if (before?.state === state) return before.text
      const text = await readTextFile(path)
      known.set(path, { state, text })
      return text
    },
  }
}

/** A configuration with 100,000 clients takes some 30 MiB. A file without end would fill the memory of the process. */
const maxMiB = 64

const requireRegular = (stats: Stats, path: string): void => {
  if (stats.isFile() && stats.size <= maxMiB * 1024 * 1024) return
  if (stats.isFile()) throw fileError(`larger than ${maxMiB} MiB`, path)
  throw fileError(stats.isDirectory() ? 'EISDIR' : 'not a regular file', path)
}
