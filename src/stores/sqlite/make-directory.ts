import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents, readable only by this user. Other processes may do the same meanwhile.
 * Node's own `recursive` never ends if an existing folder does not know its new subfolders, as those of `/proc`.
 * @throws Error with one line for the operator
 */
export const makeFolder = (path: string): void => {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (existsSync(path)) return
    const isOdd = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw isOdd ? new Error(`cannot create a folder in ${parent}`, { cause: error }) : error
  }
}
