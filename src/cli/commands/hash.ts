import { text } from 'node:stream/consumers'
import { hashSecret } from '../../oauth/secrets/secret-hash.ts'
import { Secret } from '../../secret.ts'
import { type Command, parseOptions } from '../command.ts'
import { printErrorLine, printLine } from '../output.ts'

/** Hashes a secret that a person chose, for the configuration. */
export const hash: Command = {
  name: 'hash',
  synopsis: '< SECRET',
  summary: 'reads a secret from standard input and prints its hash for client_secret_hash and password_hash',
  run: async args => {
    parseOptions(args, {})
    if (process.stdin.isTTY) printErrorLine('Type the secret, then Enter and Ctrl-D. It is visible on the screen.')
    const secret = (await text(process.stdin)).replace(/\r?\n$/, '')
    if (secret === '') {
      printErrorLine('sidegate: there is no secret on standard input')
      return 1
    }
    printLine(await hashSecret(new Secret(secret)))
    return 0
  },
}

/** The same under the name that says what is hashed. */
export const hashSecretCommand: Command = { ...hash, name: 'hash-secret', summary: 'the same as hash' }
