/**
 * The key that a token is bound to (RFC 7800 section 3.1): by the thumbprint of a DPoP key (RFC 9449 section 6) or of a
 * certificate (RFC 8705 section 3.1). With both members it is bound to both.
 */
export type Confirmation = KeyConfirmation | CertificateConfirmation | (KeyConfirmation & CertificateConfirmation)

export interface KeyConfirmation {
  readonly jkt: string
}

export interface CertificateConfirmation {
  readonly 'x5t#S256': string
}
