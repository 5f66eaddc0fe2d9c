import { stringify } from 'yaml'
import { printLineSafely } from '../output.ts'
import type { NewCredential } from './generate-credential.ts'

/** How the commands about clients print what is the client's. */

/** Its secret or private key, which is shown nowhere else. @throws Error if it cannot be written */
export const printOwn = ({ name, value }: NonNullable<NewCredential['own']>): Promise<void> =>
  printLineSafely(`${name}: ${value.reveal()}  # shown this once; give it to the client\n`)

/** As it stands under `clients:`. What a configuration would take for a reference to the environment is said literally. */
export const toListItem = (members: Readonly<Record<string, unknown>>): string =>
  stringify([members], { lineWidth: 0 })
    .trimEnd()
    .replace(/^/gm, '  ')
    .replaceAll('${', () => '$${')
