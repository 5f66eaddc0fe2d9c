import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readTextFileSync } from '../../files/text-file.ts'
import type { TlsFiles } from './address-options.ts'

/** The PEM texts for a TLS connection to a store. */
export interface TlsMaterial {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** @throws Error with a sentence for the operator, if a file cannot be read or has other content */
export const readTlsFiles = ({ caFile, certFile, keyFile }: TlsFiles): TlsMaterial => {
  const ca = readPem('ca_file', caFile, pem => new X509Certificate(pem))
  const cert = readPem('cert_file', certFile, pem => new X509Certificate(pem))
  const key = readPem('key_file', keyFile, createPrivateKey)
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('key_file of the Redis address contains the key of another certificate than cert_file')
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) }
}

const readPem = (name: string, file: string | undefined, parse: (pem: string) => unknown): string | undefined => {
  if (file === undefined) return undefined
  try {
    const pem = readTextFileSync(file)
    parse(pem)
    return pem
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    const what = name === 'key_file' ? 'private key in PEM without passphrase' : 'certificate in PEM'
    const fault = syscall === undefined ? `contains no ${what}` : `cannot be read (${code})`
    throw new Error(`${name} of the Redis address ${fault}`, { cause: error })
  }
}
