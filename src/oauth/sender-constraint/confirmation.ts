import { createHash, type X509Certificate } from 'node:crypto'
import type { CertificateConfirmation, Confirmation, KeyConfirmation } from '../../stores/ports/confirmation.ts'

/** The base64url SHA-256 of the certificate's DER (RFC 8705 section 3.1). */
const certificateThumbprint = (certificate: X509Certificate): string =>
  createHash('sha256').update(certificate.raw).digest('base64url')

/** The `cnf` of a token that is bound to a certificate (RFC 8705 section 3.1). */
export const confirmCertificate = (certificate: X509Certificate): CertificateConfirmation => ({
  'x5t#S256': certificateThumbprint(certificate),
})

/** A confirmation as one text that the store can compare. */
export const confirmationText = (confirmation: Confirmation): string =>
  [
    ...('jkt' in confirmation ? [`jkt ${confirmation.jkt}`] : []),
    ...('x5t#S256' in confirmation ? [`x5t#S256 ${confirmation['x5t#S256']}`] : []),
  ].join(' ')

/** All confirmations that a holder of these may be bound to: each one alone and, if there are two, both together. */
export const confirmationTexts = (
  key: KeyConfirmation | undefined,
  certificate: CertificateConfirmation | undefined,
): readonly string[] => {
  const both = key && certificate && { ...key, ...certificate }
  return [key, certificate, both].filter(held => held !== undefined).map(confirmationText)
}

/**
 * Whether a token with this confirmation may be used with this certificate. A token that is not bound to a
 * certificate may be used with any.
 */
export const isCertificateOf = (
  confirmation: Confirmation | undefined,
  certificate: () => X509Certificate | undefined,
): boolean => {
  if (confirmation === undefined || !('x5t#S256' in confirmation)) return true
  const held = certificate()
  return held !== undefined && certificateThumbprint(held) === confirmation['x5t#S256']
}
