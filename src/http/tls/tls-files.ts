import { createHash, createPrivateKey, constants as crypto, type KeyObject, type X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { createTextFiles, type TextFiles } from '../../files/text-file.ts'
import { type CertificateEnds, firstEnd, parseCertificates } from './pem.ts'
import type { TlsOptions } from './tls-options.ts'

/** The content of the files of a TLS listener, parsed and checked. */
export interface TlsFiles {
  /** Changes with the content. */
  readonly digest: string
  readonly certificate: X509Certificate
  readonly ends: CertificateEnds
  /** Changes with the CAs that verify clients. */
  readonly clientCa: string | undefined
  readonly context: SecureContextOptions
}

/** The file names among the TLS options. */
export type TlsFileNames = Pick<TlsOptions, 'certFile' | 'keyFile' | 'clientCaFile'>

/** The files as texts, not checked. Equal texts need no second check. */
export interface TlsTexts {
  readonly digest: string
  readonly cert: string
  readonly key: string
  readonly clientCa: string | undefined
}

/**
 * @param files reads the files; an instance that has read them before reads only changed files again
 * @throws Error a sentence with the file's name if one cannot be read
 */
export const readTlsTexts = async (
  { certFile, keyFile, clientCaFile }: TlsFileNames,
  files = createTextFiles(),
): Promise<TlsTexts> => {
  const cert = await read(certFile, files)
  const key = await read(keyFile, files)
  const clientCa = clientCaFile === undefined ? undefined : await read(clientCaFile, files)
  const digest = createHash('sha256')
    .update(JSON.stringify([cert, key, clientCa]))
    .digest('base64url')
  return { digest, cert, key, clientCa }
}

const read = (file: string, files: TextFiles): Promise<string> =>
  files.read(file).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read (${cause.code})`, { cause })
  })

/**
 * Checks that the files can be served, at the start and at every renewal. OpenSSL itself would treat an empty file as
 * "no certificate", and an incomplete list as complete.
 * @throws Error a sentence with the file's name if its content is wrong, or no handshake could succeed
 */
export const verifyTlsFiles = ({ digest, cert, key, clientCa }: TlsTexts, names: TlsFileNames): TlsFiles => {
  const { certFile, keyFile, clientCaFile = '' } = names
  const chain = within(certFile, () => parseCertificates(cert))
  const [certificate] = chain
  const privateKey = within(keyFile, () => parsePrivateKey(key))
  if (!certificate.checkPrivateKey(privateKey)) throw new Error(`${keyFile} holds the key of another certificate`)
  const fault = handshakeFault({ cert, key })
  if (fault !== undefined) throw new Error(`${certFile} cannot be served: ${fault}`)
  const authorities = clientCa === undefined ? [] : within(clientCaFile, () => parseCertificates(clientCa))
  // An empty list means no CA. If the option were left out, Node would verify clients by the public CAs.
  const context = { ...security, cert, key, ca: authorities.map(String) }
  const ends = { own: firstEnd(chain), authorities: firstEnd(authorities) }
  return { digest, certificate, ends, clientCa, context }
}

/** Puts the file's name before the message of an error. */
export const within = <T>(file: string, parse: () => T): T => {
  try {
    return parse()
  } catch (error) {
    throw new Error(`${file} ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** @throws Error if the text is not a private key */
export const parsePrivateKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new Error('holds no private key in PEM without passphrase', { cause })
  }
}

/** Why clients would refuse this certificate now. Undefined if they accept it. */
export const timeFault = ({ validFromDate, validToDate }: X509Certificate, nowMs: number): string | undefined => {
  if (validToDate.getTime() < nowMs) return `expired at ${validToDate.toISOString()}; take a new one`
  return validFromDate.getTime() > nowMs
    ? `is not valid before ${validFromDate.toISOString()}; take one that is valid now`
    : undefined
}

/** Why no handshake could succeed with this pair, and how to fix it. Undefined if one can. */
export const handshakeFault = ({ cert, key }: Pick<TlsTexts, 'cert' | 'key'>): string | undefined => {
  const { asymmetricKeyType = '', asymmetricKeyDetails } = parseCertificates(cert)[0].publicKey
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

/** The key types that clients offer (RFC 8446 section 4.2.3) and that the ciphers below can use. */
const keyTypes = ['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']

/** OpenSSL's names of P-256, P-384 and P-521. */
const curves = ['prime256v1', 'secp384r1', 'secp521r1']

/** FAPI 2.0 section 5.2.2 and its references: RFC 9325 (BCP 195) sections 3.1.1 and 4.2. */
const security: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ].join(':'),
  honorCipherOrder: true,
  // No session tickets: their keys would have to be rotated and shared among the workers (RFC 9325 section 3.4), and a
  // resumed session would keep a client's certificate after its expiry.
  secureOptions: crypto.SSL_OP_NO_RENEGOTIATION | crypto.SSL_OP_NO_TICKET,
}
