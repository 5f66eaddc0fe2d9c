import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const checkout = join(import.meta.dirname, '../..')

/** The files that the package is built from, beside the installed packages. */
const sources = ['package.json', 'deploy/bundle.sh', 'src', 'config', 'README.md', 'LICENSE', 'CHANGELOG.md']

/**
 * Builds the program in a folder of its own, so that nothing is written into this checkout.
 * @param dir an empty folder; becomes what `npm pack` may be called in
 * @returns the path of the launcher
 * @throws Error with what the build printed
 */
export const buildPackage = (dir: string): string => {
  for (const source of sources) cpSync(join(checkout, source), join(dir, source), { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(dir, 'node_modules'))
  runNpm(dir, ['run', 'build'])
  return join(dir, 'dist/sidegate.cjs')
}

/**
 * Without the hooks that a test runner hands to every Node process below it.
 * @returns what npm printed on stdout
 * @throws Error with what npm printed
 */
export const runNpm = (cwd: string, args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', 'npm', ...args], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}
