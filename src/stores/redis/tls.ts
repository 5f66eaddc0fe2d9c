import type { ConnectionOptions } from 'node:tls'
import type { TlsFiles } from '../shared/address-options.ts'
import { readTlsFiles, type TlsMaterial } from '../shared/tls-files.ts'

/**
 * TLS for connections to come: ioredis copies these options for each, and each copy reads the files anew, so that renewed
 * certificates need no restart. Files that cannot be read meanwhile (half of them renewed) leave the last in place.
 *
 * @throws Error with a sentence for the operator, where they cannot be read now
 */
export const followTlsFiles = (files: TlsFiles): ConnectionOptions => {
  let last: TlsMaterial = readTlsFiles(files)
  const read = (): TlsMaterial => {
    try {
      last = readTlsFiles(files)
    } catch {
      // A connection with the last ones may still do; one that is not tried does not.
    }
    return last
  }
  return {
    ...(files.servername !== undefined && { servername: files.servername }),
    get ca() {
      return read().ca
    },
    get cert() {
      return read().cert
    },
    get key() {
      return read().key
    },
  }
}
