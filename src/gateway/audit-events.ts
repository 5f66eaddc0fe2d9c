import { OAuthError, type OAuthErrorCode, type Reuse } from '../errors.ts'
import type { IssuedToken, OAuthFacts } from '../oauth/protocol.ts'
import { StoreUnavailableError } from '../stores/ports/store-unavailable.ts'
import type { Audit } from '../telemetry/audit.ts'
import { isForProof } from './authn/oauth-client.ts'
import type { Exchange } from './exchange.ts'

/** Writes to the audit log what an operation of the authorization server did. Forwarded requests never call this. */
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

/** Names each member: a line is written for each token, and spreads take three times as long. */
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
  const client = { client_id, ...placeOf(exchange) }
  if (interaction === 'accepted') {
    audit.write({ action: 'consent_given', ...client, sub: sub ?? '', scope: orNone(scope) })
  } else if (interaction === 'rejected') {
    audit.write({ action: 'consent_declined', ...client, sub, reason })
  }
}

/** Writes what a step threw: the client could not prove its identity, or it did and its request was refused. */
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

/**
 * A client has proven its identity, and its request for a token or a revocation is refused.
 * @param reason the error code that the client gets
 */
export const auditRefused = (audit: Audit, exchange: Exchange, reason: OAuthErrorCode): void => {
  const { caller, operation } = exchange
  if (caller?.kind !== 'client' || operation?.target.kind !== 'serve') return
  const facts = { client_id: caller.client.client_id, reason, ...placeOf(exchange) }
  if (operation.target.serves === 'revoke') audit.write({ action: 'revocation_refused', ...facts })
  // A client that gets a nonce repeats its request with it: every DPoP exchange begins so (RFC 9449 section 8).
  if (operation.target.serves === 'token' && reason !== 'use_dpop_nonce') {
    audit.write({ action: 'token_refused', ...facts })
  }
}

/**
 * A client that is blocked after too many failures gets no further lines: the line of its last failure comes before.
 */
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

/** An empty scope is left out of the line. */
const orNone = (scope: string | undefined): string | undefined => (scope === '' ? undefined : scope)

const placeOf = ({ context }: Exchange) => ({ address: context.address, request_id: context.id })
