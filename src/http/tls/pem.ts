import { X509Certificate } from 'node:crypto'

/**
 * All certificates of a PEM text (RFC 7468), in order. Keys and other text between them are skipped.
 * @throws Error if there is no certificate, one cannot be parsed, or the text ends within a block: OpenSSL ignores an
 * incomplete block
 */
export const parseCertificates = (pem: string): readonly [X509Certificate, ...X509Certificate[]] => {
  if (/^-----/m.test(pem.replace(wholeBlock, '')))
    throw new Error('has a BEGIN without its END: it seems to be cut off')
  const blocks = [...pem.matchAll(wholeBlock)].filter(([, label = '']) => certificateLabels.includes(label))
  const [first, ...others] = blocks.map(([block], index) => parseBlock(block, index + 1))
  if (!first) throw new Error('holds no certificate in PEM')
  return [first, ...others]
}

/** The content of a block has no hyphen, so that a match never spans an incomplete block and the next one. */
const wholeBlock = /^-----BEGIN ([A-Z0-9 ]+)-----[^-]*^-----END \1-----/gm

/** OpenSSL writes and reads all three. */
const certificateLabels = ['CERTIFICATE', 'X509 CERTIFICATE', 'TRUSTED CERTIFICATE']

const parseBlock = (block: string, position: number): X509Certificate => {
  try {
    return new X509Certificate(block)
  } catch (cause) {
    throw new Error(`holds something that is no certificate where number ${position} should be`, { cause })
  }
}

/** When the certificates in use expire, in milliseconds since 1970. */
export interface CertificateEnds {
  /** The earliest of our own certificate and its chain. Undefined: we send no certificate. */
  readonly own: number | undefined
  /** The earliest of the CAs that verify the other side. Undefined: no particular CAs are configured. */
  readonly authorities: number | undefined
}

/** The earliest expiry. Undefined: the list is empty. */
export const firstEnd = (certificates: readonly X509Certificate[]): number | undefined =>
  certificates.length === 0 ? undefined : Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()))
