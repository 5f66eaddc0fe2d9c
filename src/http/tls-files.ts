import { createHash, createPrivateKey, constants as crypto, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
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
  const fault = handshakeFault({ cert, key })
  if (fault !== undefined) throw new Error(fault)
  if (clientCa !== undefined) new X509Certificate(clientCa)
  // No CA at all is an empty list: left out, the public ones that Node brings would vouch for clients.
  const context = { ...security, cert, key, ca: clientCa === undefined ? [] : [clientCa] }
  return { digest, validTo: certificate.validToDate, context }
}

/** Why no handshake would come about with this pair, and what would be right; undefined where one can. */
export const handshakeFault = ({ cert, key }: Pick<TlsTexts, 'cert' | 'key'>): string | undefined => {
  const { asymmetricKeyType = '', asymmetricKeyDetails } = new X509Certificate(cert).publicKey
  const { namedCurve } = asymmetricKeyDetails ?? {}
  if (!keyTypes.includes(asymmetricKeyType) || (namedCurve !== undefined && !curves.includes(namedCurve))) {
    return 'no client takes a key of this kind; use RSA, Ed25519, or ECDSA with P-256, P-384 or P-521'
  }
  try {
    createSecureContext({ ...security, cert, key })
    return undefined
  } catch (error) {
    const { reason = 'refused' } = error as { readonly reason?: string }
    return `TLS does not take it (${reason}); use RSA of 2048 bits or more, or ECDSA with P-256, and SHA-256`
  }
}

/** What those who connect offer (RFC 8446 section 4.2.3) and the ciphers below have a use for. */
const keyTypes = ['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']

/** As OpenSSL names P-256, P-384 and P-521. */
const curves = ['prime256v1', 'secp384r1', 'secp521r1']

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
