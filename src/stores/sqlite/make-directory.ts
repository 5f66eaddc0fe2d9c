import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing, for nobody else to read. Others may do the same meanwhile. Node's own
 * `recursive` never ends where a folder that is there knows nothing of new ones, as those of `/proc` do.
 * @throws Error one line for a person
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
    throw isOdd ? new Error(`no folder can be made in ${parent}`, { cause: error }) : error
  }
}
