/**
 * What a token is bound to (RFC 7800 section 3.1): a DPoP key's thumbprint (RFC 9449 section 6) or a certificate's
 * (RFC 8705 section 3.1). With both members, to both at once.
 */
export type Confirmation = KeyConfirmation | CertificateConfirmation | (KeyConfirmation & CertificateConfirmation)

export interface KeyConfirmation {
  readonly jkt: string
}

export interface CertificateConfirmation {
  readonly 'x5t#S256': string
}
