import { createHash, type X509Certificate } from 'node:crypto'
import type { CertificateConfirmation, Confirmation, KeyConfirmation } from '../../stores/ports/confirmation.ts'

/** The base64url SHA-256 of the certificate's DER (RFC 8705 section 3.1). */
const certificateThumbprint = (certificate: X509Certificate): string =>
  createHash('sha256').update(certificate.raw).digest('base64url')

/** What binds to a certificate: `cnf` of RFC 8705 section 3.1. */
export const confirmCertificate = (certificate: X509Certificate): CertificateConfirmation => ({
  'x5t#S256': certificateThumbprint(certificate),
})

/** A confirmation as one text: what a store compares. */
export const confirmationText = (confirmation: Confirmation): string =>
  [
    ...('jkt' in confirmation ? [`jkt ${confirmation.jkt}`] : []),
    ...('x5t#S256' in confirmation ? [`x5t#S256 ${confirmation['x5t#S256']}`] : []),
  ].join(' ')

/** Everything that a holder of these can be bound to: each by itself and, of two, both at once. */
export const confirmationTexts = (
  key: KeyConfirmation | undefined,
  certificate: CertificateConfirmation | undefined,
): readonly string[] => {
  const both = key && certificate && { ...key, ...certificate }
  return [key, certificate, both].filter(held => held !== undefined).map(confirmationText)
}

/** Whether a token that is bound like this may come along with this certificate; one bound to none may with any. */
export const isCertificateOf = (
  confirmation: Confirmation | undefined,
  certificate: () => X509Certificate | undefined,
): boolean => {
  if (confirmation === undefined || !('x5t#S256' in confirmation)) return true
  const held = certificate()
  return held !== undefined && certificateThumbprint(held) === confirmation['x5t#S256']
}
