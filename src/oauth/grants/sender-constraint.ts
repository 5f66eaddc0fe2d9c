import { OAuthError } from '../../errors.ts'
import type { CertificateConfirmation, Confirmation, KeyConfirmation } from '../../stores/ports/confirmation.ts'
import { type ClientRegistration, isConfidential } from '../clients/metadata.ts'
import type { OAuthOptions } from '../options.ts'
import type { OAuthRequest } from '../protocol.ts'
import type { SingleUse } from '../replay-protection.ts'
import { confirmationTexts, confirmCertificate } from '../sender-constraint/confirmation.ts'
import type { ProofCheck, ProvenKey } from '../sender-constraint/dpop-proof-check.ts'

/**
 * The DPoP key and the certificate that the sender of a token request proves to hold, beside the client's own
 * credentials.
 */
export interface SenderConstraint {
  /** The `cnf` of the access token; left out: it is a bearer token. */
  readonly confirmation?: Confirmation
  /** The key of a DPoP proof, if there was one. */
  readonly jkt?: string
  /** All proven bindings, as the store compares them: a refresh token may be bound to one of these. */
  readonly bindings: readonly string[]
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>
  /** The replay check of the DPoP proof, if there was one. */
  readonly pendingReplayChecks: readonly SingleUse[]
}

/**
 * @throws OAuthError invalid_dpop_proof or use_dpop_nonce for an invalid proof; invalid_dpop_proof or invalid_request
 * if the client must prove a key or a certificate and does not
 */
export type SenderConstraintCheck = (request: OAuthRequest, client: ClientRegistration) => SenderConstraint

/** A DPoP proof binds the token of any client; a certificate binds only if the client is registered for that. */
export const createSenderConstraintCheck = (
  options: Pick<OAuthOptions, 'profile'>,
  checkProof: ProofCheck,
): SenderConstraintCheck => {
  const toSenderConstraint = (
    request: OAuthRequest,
    client: ClientRegistration,
    proven: ProvenKey | undefined,
  ): SenderConstraint => {
    const { clientCertificate } = request
    const certificate = clientCertificate && confirmCertificate(clientCertificate.certificate)
    const key = proven && { jkt: proven.jkt }
    const confirmation = confirm(client, options, key, certificate)
    return {
      ...(confirmation && { confirmation }),
      ...key,
      bindings: confirmationTexts(key, certificate),
      headers: proven?.headers ?? noHeaders,
      pendingReplayChecks: proven ? [proven.use] : [],
    }
  }
  return (request, client) => {
    if (request.dpop.length > 0) return toSenderConstraint(request, client, checkProof(request))
    // The fast path of most requests: a certificate on the connection is not even read.
    if (isConfidential(client) && !isSenderConstrained(client, options)) return unconstrained
    return toSenderConstraint(request, client, undefined)
  }
}

/** No headers; the same object each time. */
export const noHeaders: SenderConstraint['headers'] = {}

const unconstrained: SenderConstraint = { bindings: [], headers: noHeaders, pendingReplayChecks: [] }

/**
 * The binding of the token, after a check of everything that the client is registered to prove. Undefined: it is a
 * bearer token.
 */
const confirm = (
  client: ClientRegistration,
  options: Pick<OAuthOptions, 'profile'>,
  key: KeyConfirmation | undefined,
  certificate: CertificateConfirmation | undefined,
): Confirmation | undefined => {
  // RFC 9449 section 5.2 defines no error code; this one tells the client which of its headers is missing.
  if (client.dpop_bound_access_tokens && !key)
    throw new OAuthError('invalid_dpop_proof', 'This client must send a DPoP proof')
  if (client.tls_client_certificate_bound_access_tokens) {
    if (!certificate) throw new OAuthError('invalid_request', 'This client must present its certificate')
    return { ...key, ...certificate }
  }
  if (key || !isSenderConstrained(client, options)) return key
  if (certificate) return certificate
  throw new OAuthError('invalid_request', 'This client must send a DPoP proof or present a certificate')
}

/** Whether every token of the client is sender-constrained (FAPI 2.0 Security Profile section 5.3.2.1). */
export const isSenderConstrained = (client: ClientRegistration, { profile }: Pick<OAuthOptions, 'profile'>): boolean =>
  client.dpop_bound_access_tokens ||
  client.tls_client_certificate_bound_access_tokens ||
  client.profile === 'fapi2' ||
  profile === 'fapi2'
