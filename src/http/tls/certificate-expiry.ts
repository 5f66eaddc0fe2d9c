import type { X509Certificate } from 'node:crypto'

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
