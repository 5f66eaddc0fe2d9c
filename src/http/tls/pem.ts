import { X509Certificate } from 'node:crypto'

/**
 * Every certificate of a PEM text (RFC 7468), in order. Keys and remarks may stand between them.
 * @throws Error where there is none, one cannot be read, or the text breaks off within a block: OpenSSL takes what came
 * before for the whole
 */
export const parseCertificates = (pem: string): readonly [X509Certificate, ...X509Certificate[]] => {
  if (/^-----/m.test(pem.replace(wholeBlock, '')))
    throw new Error('has a BEGIN without its END: it seems to be cut off')
  const blocks = [...pem.matchAll(wholeBlock)].filter(([, label = '']) => certificateLabels.includes(label))
  const [first, ...others] = blocks.map(([block], index) => parseBlock(block, index + 1))
  if (!first) throw new Error('holds no certificate in PEM')
  return [first, ...others]
}

/** What stands between the two lines has no hyphen, so that a block which is cut off takes none of the next one. */
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

/** When the certificates that are in use expire, in milliseconds since 1970. */
export interface CertificateEnds {
  /** The first of our own and of the chain above it; undefined: we show none. */
  readonly own: number | undefined
  /** The first of those who vouch for the other side; undefined: nobody in particular does. */
  readonly authorities: number | undefined
}

/** When the first of them expires; undefined: there is none. */
export const firstEnd = (certificates: readonly X509Certificate[]): number | undefined =>
  certificates.length === 0 ? undefined : Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()))
