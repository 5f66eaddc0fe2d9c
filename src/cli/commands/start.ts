import { demoConfigFile } from '../../install-paths.ts'
import type { Command } from '../command.ts'
import { parseOptions } from '../command.ts'
import { configOption, findConfigFile } from '../config-file.ts'
import { serveFile } from './serve.ts'

/** What `npm start` runs: a named configuration alone, or the one that comes along with its demo upstream. */
export const start: Command = {
  name: 'start',
  synopsis: '[--config FILE]',
  summary: 'the same as serve; without FILE the demo configuration and its upstream',
  run: args => {
    const file = findConfigFile(parseOptions(args, configOption).config)
    return serveFile(file ?? demoConfigFile, { demo: file === undefined })
  },
}
