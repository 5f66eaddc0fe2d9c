import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { toRegisteredName } from '../../oauth/clients/distinguished-name.ts'

/** The facts about a client's certificate that the configuration contains. */
export interface RegisteredCertificate {
  /** The subject DN (RFC 4514). */
  readonly subjectName: string
  /** The public key as a JWK set (RFC 7517 section 5). */
  readonly jwks: { readonly keys: readonly object[] }
}

/**
 * Reads the certificate of a client: the first one in the file.
 * @throws Error one line that names the file
 */
export const readCertificateFile = (file: string): RegisteredCertificate => {
  const { subject, publicKey } = parse(readBytes(file), file)
  return { subjectName: toRegisteredName(subject), jwks: { keys: [publicKey.export({ format: 'jwk' })] } }
}

const readBytes = (file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`${resolve(file)} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

const parse = (bytes: Buffer, file: string): X509Certificate => {
  try {
    return new X509Certificate(bytes)
  } catch {
    throw new Error(`${resolve(file)} contains no certificate`) // it may hold a private key
  }
}
