import { configJsonSchema } from '../../config/load.ts'
import { type Command, parseOptions } from '../command.ts'
import { printLine } from '../output.ts'

/** Prints the JSON Schema of the configuration, for editors. */
export const schema: Command = {
  name: 'schema',
  synopsis: '',
  summary: 'prints the JSON Schema of the configuration',
  run: args => {
    parseOptions(args, {})
    printLine(JSON.stringify(configJsonSchema(), undefined, 2))
    return 0
  },
}
