import { OAuthError, type OAuthErrorCode, type Reuse } from '../errors.ts'
import type { IssuedToken, OAuthFacts } from '../oauth/protocol.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import type { Audit } from '../telemetry/audit.ts'
import { isForProof } from './authn/oauth-client.ts'
import type { Exchange } from './exchange.ts'

/** What an operation of the authorization server did, in the audit log; no way of a forwarded request comes by here. */
export const auditResponse = (audit: Audit, exchange: Exchange, facts: OAuthFacts): void => {
  const { client_id = '', issued, revoked, signIn, introspection, proofFault } = facts
  const where = placeOf(exchange)
  if (issued) auditIssued(audit, exchange, client_id, issued)
  if (revoked) audit.write({ action: 'token_revoked', client_id, ...revoked, ...where })
  if (introspection) audit.write({ action: 'token_introspected', client_id, reason: introspection, ...where })
  if (proofFault) audit.write({ action: 'client_refused', client_id: facts.client_id, reason: proofFault, ...where })
  if (signIn?.outcome === 'done') audit.write({ action: 'signed_in', client_id, sub: signIn.sub, ...where })
  else if (signIn) audit.write({ action: `sign_in_${signIn.outcome}`, client_id, sub: signIn.sub, ...where })
  if (facts.interaction) auditConsent(audit, exchange, facts)
}

/** Member by member: there is one for each token, and spreads take three times as long. */
const auditIssued = (audit: Audit, { context }: Exchange, client_id: string, issued: IssuedToken): void => {
  const { grant_type, format, sub, scope, jti } = issued
  const { address, id: request_id } = context
  audit.write({
    action: 'token_issued',
    client_id,
    grant_type,
    format,
    sub,
    scope: orNone(scope),
    jti,
    address,
    request_id,
  })
}

const auditConsent = (audit: Audit, exchange: Exchange, facts: OAuthFacts): void => {
  const { client_id = '', interaction, sub, scope, error: reason = '' } = facts
  const who = { client_id, ...placeOf(exchange) }
  if (interaction === 'accepted') {
    audit.write({ action: 'consent_given', ...who, sub: sub ?? '', scope: orNone(scope) })
  } else if (interaction === 'rejected') {
    audit.write({ action: 'consent_declined', ...who, sub, reason })
  }
}

/** What was thrown on the way: a client did not prove itself, or did and got nothing for it. */
export const auditFailure = (audit: Audit, exchange: Exchange, error: unknown): void => {
  if (!(error instanceof OAuthError)) {
    auditRefused(audit, exchange, error instanceof StoreUnavailableError ? 'temporarily_unavailable' : 'server_error')
  } else if (isForProof(error)) {
    auditUnproven(audit, exchange, error)
  } else {
    if (error.reuse) auditReuse(audit, exchange, error.reuse)
    auditRefused(audit, exchange, error.code)
  }
}

/** A client that has proven itself gets no token, or could not give one back. @param reason the error that it is told */
export const auditRefused = (audit: Audit, exchange: Exchange, reason: OAuthErrorCode): void => {
  const { caller, operation } = exchange
  if (caller?.kind !== 'client' || operation?.target.kind !== 'serve') return
  const facts = { client_id: caller.client.client_id, reason, ...placeOf(exchange) }
  if (operation.target.serves === 'revoke') audit.write({ action: 'revocation_refused', ...facts })
  // A client that is told a nonce comes back with it: that is how it begins (RFC 9449 section 8).
  if (operation.target.serves === 'token' && reason !== 'use_dpop_nonce') {
    audit.write({ action: 'token_refused', ...facts })
  }
}

/** Who is refused unheard, after too many failures, is told of no more: the failure that was one too many stands before. */
const auditUnproven = (audit: Audit, exchange: Exchange, { code, proofFault, client_id }: OAuthError): void => {
  const facts = { client_id, reason: proofFault ?? 'missing', ...placeOf(exchange) }
  if (code === 'invalid_client') audit.write({ action: 'client_refused', ...facts })
  else if (proofFault) audit.write({ action: 'client_blocked', ...facts })
}

const auditReuse = (audit: Audit, exchange: Exchange, { of, sub }: Reuse): void => {
  if (exchange.caller?.kind !== 'client') return
  const { client_id } = exchange.caller.client
  audit.write({ action: 'reuse_detected', client_id, ...placeOf(exchange), reason: of, sub })
}

/** No scope is no member of a line. */
const orNone = (scope: string | undefined): string | undefined => (scope === '' ? undefined : scope)

const placeOf = ({ context }: Exchange) => ({ address: context.address, request_id: context.id })
