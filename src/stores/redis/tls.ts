import type { ConnectionOptions } from 'node:tls'
import type { TlsFiles } from '../shared/address-options.ts'
import { readTlsFiles, type TlsMaterial } from '../shared/tls-files.ts'

/**
 * TLS options for future connections. ioredis copies these options for each connection, and each copy reads the files
 * again, so renewed certificates need no restart. If the files cannot be read (because only half of them are renewed),
 * the last ones are used.
 *
 * @throws Error with a sentence for the operator, if they cannot be read now
 */
export const followTlsFiles = (files: TlsFiles): ConnectionOptions => {
  let last: TlsMaterial = readTlsFiles(files)
  const read = (): TlsMaterial => {
    try {
      last = readTlsFiles(files)
    } catch {
      // A connection with the last ones may still succeed.
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
