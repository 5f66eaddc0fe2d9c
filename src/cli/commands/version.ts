import { buildInfo } from '../../version.ts'
import { type Command, parseOptions } from '../command.ts'
import { printLine } from '../output.ts'

/** Prints the version of Sidegate and of the Node it runs on. */
export const version: Command = {
  name: 'version',
  synopsis: '',
  summary: 'prints the version',
  run: args => {
    parseOptions(args, {})
    const { version, node_version } = buildInfo()
    printLine(`sidegate ${version}, node ${node_version}`)
    return 0
  },
}
