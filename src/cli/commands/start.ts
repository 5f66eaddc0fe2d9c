import { demoConfigFile } from '../../install-paths.ts'
import type { Command } from '../command.ts'
import { parseOptions } from '../command.ts'
import { configOption, findConfigFile } from '../config-file.ts'
import { serveFile } from './serve.ts'

/** The command of `npm start`: serves a named configuration, or the demo configuration with its upstream. */
export const start: Command = {
  name: 'start',
  synopsis: '[--config FILE]',
  summary: 'like serve; without FILE, serves the demo configuration and starts its upstream',
  run: args => {
    const file = findConfigFile(parseOptions(args, configOption).config)
    return serveFile(file ?? demoConfigFile, { demo: file === undefined })
  },
}
