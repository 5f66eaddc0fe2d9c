import { stringify } from 'yaml'
import { printLineSafely } from '../output.ts'
import type { NewCredential } from './generate-credential.ts'

/** Output of the commands about clients. */

/** Prints the secret or the private key of a client, which is shown only once. @throws Error if it cannot be written */
export const printOwn = ({ name, value }: NonNullable<NewCredential['own']>): Promise<void> =>
  printLineSafely(`${name}: ${value.reveal()}  # shown only once; give it to the client\n`)

/**
 * A client as YAML for `clients:`. Text that a configuration would take for a reference to the environment is escaped.
 */
export const toListItem = (members: Readonly<Record<string, unknown>>): string =>
  stringify([members], { lineWidth: 0 })
    .trimEnd()
    .replace(/^/gm, '  ')
    .replaceAll('${', () => '$${')
