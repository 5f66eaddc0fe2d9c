import { join } from 'node:path'
import type { Command } from './command.ts'
import { parseOptions } from './command.ts'
import { configOption, findConfigFile } from './config-file.ts'
import { serveFile } from './serve.ts'

/** The configuration that comes with Sidegate; the same distance from `src/cli` and from `dist/cli`. */
const demoFile = join(import.meta.dirname, '../../config/sidegate.yaml')

/** What `npm start` runs: a named configuration alone, or the one that comes along with its demo upstream. */
export const start: Command = {
  name: 'start',
  synopsis: '[--config FILE]',
  summary: 'the same as serve; without FILE the demo configuration and its upstream',
  run: args => {
    const file = findConfigFile(parseOptions(args, configOption).config)
    return serveFile(file ?? demoFile, { demo: file === undefined })
  },
}
