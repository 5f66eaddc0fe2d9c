import { createHash, createPrivateKey, constants as crypto, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { SecureContextOptions } from 'node:tls'
import type { TlsOptions } from './tls-options.ts'

/** What the files of a TLS listener hold, read and checked. */
export interface TlsFiles {
  /** Changes with what they hold. */
  readonly digest: string
  /** When the certificate expires. */
  readonly validTo: Date
  readonly context: SecureContextOptions
}

/** What of the TLS options names files. */
export type TlsFileNames = Pick<TlsOptions, 'certFile' | 'keyFile' | 'clientCaFile'>

/** As texts, not yet looked at: two of them that are alike need no second look. */
export interface TlsTexts {
  readonly digest: string
  readonly cert: string
  readonly key: string
  readonly clientCa: string | undefined
}

/** @throws Error of the file system, where one cannot be read */
export const readTlsTexts = async ({ certFile, keyFile, clientCaFile }: TlsFileNames): Promise<TlsTexts> => {
  const read = (file: string): Promise<string> => readFile(file, 'utf8')
  const [cert, key, clientCa] = await Promise.all([
    read(certFile),
    read(keyFile),
    clientCaFile === undefined ? undefined : read(clientCaFile),
  ])
  const digest = createHash('sha256')
    .update(JSON.stringify([cert, key, clientCa]))
    .digest('base64url')
  return { digest, cert, key, clientCa }
}

/**
 * Only what can be served: OpenSSL itself would take an empty file for "no certificate", and nobody could connect.
 * @throws Error where a text is not what its file should hold, or the key is another certificate's
 */
export const verifyTlsFiles = ({ digest, cert, key, clientCa }: TlsTexts): TlsFiles => {
  const certificate = new X509Certificate(cert)
  if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('the key belongs to another certificate')
  if (clientCa !== undefined) new X509Certificate(clientCa)
  // No CA at all is an empty list: left out, the public ones that Node brings would vouch for clients.
  const context = { ...security, cert, key, ca: clientCa === undefined ? [] : [clientCa] }
  return { digest, validTo: certificate.validToDate, context }
}

/** FAPI 2.0 section 5.2.2 and what it refers to: RFC 9325 (BCP 195) sections 3.1.1 and 4.2. */
const security: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ].join(':'),
  honorCipherOrder: true,
  // No tickets: their keys would have to be changed and shared among the workers (RFC 9325 section 3.4), and a session
  // that is resumed would keep a client's certificate beyond its end.
  secureOptions: crypto.SSL_OP_NO_RENEGOTIATION | crypto.SSL_OP_NO_TICKET,
}
