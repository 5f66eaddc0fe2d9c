import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program that tests start. */
export interface Program {
  readonly command: string
  /** The Debian package that brings it. A program without one comes from npm. */
  readonly debianPackage?: string
  /** The oldest version that the tests can use. Without one, any version will do. */
  readonly oldest?: Version
}

interface Version {
  /** Dotted: `1.27`. */
  readonly number: string
  /** The arguments with which the program prints its version. */
  readonly ask: readonly string[]
}

/** Why the tests cannot use the program, in a few words; undefined if they can. */
export const whyUnfit = ({ command, oldest }: Program): string | undefined => {
  if (!isOnPath(command)) return 'not installed'
  if (!oldest) return undefined
  const { stdout, stderr } = spawnSync(command, oldest.ask, { encoding: 'utf8' })
  const found = /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0]
  if (found === undefined) return 'it prints no version'
  return isOlder(found, oldest.number) ? `this is ${found}` : undefined
}

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some(folder => isExecutable(join(folder, command)))

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Compares dotted numbers part by part: 1.9 is older than 1.10. */
export const isOlder = (found: string, oldest: string): boolean => {
  const parts = found.split('.').map(Number)
  const differences = oldest.split('.').map((part, nth) => (parts[nth] ?? 0) - Number(part))
  return (differences.find(difference => difference !== 0) ?? 0) < 0
}

/** The program and what is wrong with it, for a person: `kubectl 1.27 or newer (this is 1.20.2)`. */
export const describeLack = (program: Program): string => {
  const { command, debianPackage, oldest } = program
  const title = oldest ? `${command} ${oldest.number} or newer` : command
  const why = whyUnfit(program)
  const remarks = [
    debianPackage !== undefined && debianPackage !== command ? `Debian's ${debianPackage}` : undefined,
    why === 'not installed' ? undefined : why,
  ].filter(remark => remark !== undefined)
  return remarks.length === 0 ? title : `${title} (${remarks.join('; ')})`
}
