import { OAuthError } from '../../errors.ts'
import type { CertificateConfirmation, Confirmation, KeyConfirmation } from '../../stores/ports/confirmation.ts'
import { type ClientRegistration, isConfidential } from '../clients/metadata.ts'
import type { OAuthOptions } from '../options.ts'
import type { OAuthRequest } from '../protocol.ts'
import type { SingleUse } from '../replay-protection.ts'
import { confirmationTexts, confirmCertificate } from '../sender-constraint/confirmation.ts'
import type { ProofCheck, ProvenKey } from '../sender-constraint/dpop-proof-check.ts'

/** What the sender of a token request proves to hold, beside the client's own credentials. */
export interface SenderConstraint {
  /** What the access token is bound to; left out: it is a bearer token. */
  readonly confirmation?: Confirmation
  /** The key of a DPoP proof, if there was one. */
  readonly jkt?: string
  /** Everything proven, as the store compares it: what a refresh token may be bound to. */
  readonly bindings: readonly string[]
  /** To send along with the answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Of the DPoP proof, if there was one. */
  readonly pendingReplayChecks: readonly SingleUse[]
}

/**
 * @throws OAuthError invalid_dpop_proof or use_dpop_nonce for a proof that is not good; invalid_dpop_proof or
 * invalid_request where the client has to prove something and does not
 */
export type SenderConstraintCheck = (request: OAuthRequest, client: ClientRegistration) => SenderConstraint

/** A DPoP proof that is sent binds, whoever sends it; a certificate binds where the client is registered for that. */
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
    // Most requests: their certificate, if there is one, does not even have to be read.
    if (isConfidential(client) && !isSenderConstrained(client, options)) return unconstrained
    return toSenderConstraint(request, client, undefined)
  }
}

/** Where there is nothing to send along: the same object each time. */
export const noHeaders: SenderConstraint['headers'] = {}

const unconstrained: SenderConstraint = { bindings: [], headers: noHeaders, pendingReplayChecks: [] }

/** What the token is bound to, with all that the client is registered to hold. Undefined: it is a bearer token. */
const confirm = (
  client: ClientRegistration,
  options: Pick<OAuthOptions, 'profile'>,
  key: KeyConfirmation | undefined,
  certificate: CertificateConfirmation | undefined,
): Confirmation | undefined => {
  // RFC 9449 section 5.2 names no code; this one tells a client which of its headers is missing.
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

/** Whether every token of the client is bound to something (FAPI 2.0 Security Profile section 5.3.2.1). */
export const isSenderConstrained = (client: ClientRegistration, { profile }: Pick<OAuthOptions, 'profile'>): boolean =>
  client.dpop_bound_access_tokens ||
  client.tls_client_certificate_bound_access_tokens ||
  client.profile === 'fapi2' ||
  profile === 'fapi2'
