import type { Command } from '../command.ts'

/** What `sidegate --help` prints. */
export const helpText = (commands: readonly Command[]): string => {
  const entries = commands.filter(command => !command.hidden).map(toEntry)
  return `Sidegate: an OAuth 2.0 authorization server and an API gateway.\n\n${entries.join('\n')}\n\n${footer}`
}

const toEntry = ({ name, synopsis, summary }: Command): string =>
  `  sidegate ${[name, synopsis].filter(Boolean).join(' ')}\n      ${summary}`

const footer = 'Exit codes: 0 ok or drained, 1 bad configuration or failure, 2 bad usage.'
