import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, parseOptions, printLine } from './command.ts'

/** Prints the version of Sidegate and of the Node it runs on. */
export const version: Command = {
  name: 'version',
  synopsis: '',
  summary: 'prints the version',
  run: args => {
    parseOptions(args, {})
    // The same distance from `src/cli` and from `dist/cli`.
    const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
    printLine(`sidegate ${versionOf(manifest)}, node ${process.version}`)
    return 0
  },
}

const versionOf = (manifest: unknown): string =>
  typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown'
