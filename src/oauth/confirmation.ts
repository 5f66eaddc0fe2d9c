import { createHash, type X509Certificate } from 'node:crypto'
import type { Confirmation } from '../stores/ports.ts'

/** The base64url SHA-256 of the certificate's DER (RFC 8705 section 3.1). */
export const certificateThumbprint = (certificate: X509Certificate): string =>
  createHash('sha256').update(certificate.raw).digest('base64url')

/** What binds to a certificate: `cnf` of RFC 8705 section 3.1. */
export const confirmCertificate = (certificate: X509Certificate): Confirmation => ({
  'x5t#S256': certificateThumbprint(certificate),
})

/** A confirmation as one text: what a store compares. */
export const confirmationText = (confirmation: Confirmation): string =>
  'jkt' in confirmation ? `jkt ${confirmation.jkt}` : `x5t#S256 ${confirmation['x5t#S256']}`
