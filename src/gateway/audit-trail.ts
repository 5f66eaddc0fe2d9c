import type { OAuthError } from '../errors.ts'
import type { OAuthFacts } from '../oauth/wire.ts'
import type { Audit } from '../telemetry/audit.ts'
import type { Exchange } from './exchange.ts'

export { type AuditScope, auditScopes } from '../telemetry/audit.ts'

/** What an operation of the authorization server did, in the audit log; no way of a forwarded request comes by here. */
export const auditAnswer = (audit: Audit, exchange: Exchange, facts: OAuthFacts): void => {
  const { client_id = '', issued, revoked, signIn, introspection, proofFault } = facts
  const where = placeOf(exchange)
  if (issued) audit.write({ action: 'token_issued', client_id, ...issued, ...where })
  if (revoked) audit.write({ action: 'token_revoked', client_id, ...revoked, ...where })
  if (introspection) audit.write({ action: 'token_introspected', client_id, reason: introspection, ...where })
  if (proofFault) audit.write({ action: 'client_refused', client_id, reason: proofFault, ...where })
  if (signIn?.outcome === 'done') audit.write({ action: 'signed_in', client_id, sub: signIn.sub, ...where })
  else if (signIn) audit.write({ action: `sign_in_${signIn.outcome}`, client_id, sub: signIn.sub, ...where })
  auditConsent(audit, exchange, facts)
}

const auditConsent = (audit: Audit, exchange: Exchange, facts: OAuthFacts): void => {
  const { client_id = '', interaction, sub, scope, error: reason = '' } = facts
  const where = placeOf(exchange)
  if (interaction === 'accepted') audit.write({ action: 'consent_given', client_id, sub: sub ?? '', scope, ...where })
  if (interaction === 'rejected') audit.write({ action: 'consent_declined', client_id, sub, reason, ...where })
}

/**
 * What it refused: a client that did not prove itself, or a token. Who is refused unheard, after too many failures, is not
 * told of each time; the line of the failure that was one too many stands before.
 */
export const auditRefusal = (audit: Audit, exchange: Exchange, error: OAuthError): void => {
  const { code, proofFault, reuse } = error
  const where = placeOf(exchange)
  const caller = exchange.caller?.kind === 'client' ? exchange.caller.client.client_id : undefined
  if (isForProof(error)) {
    const action = code === 'rate_limit_exceeded' ? 'client_blocked' : 'client_refused'
    const reason = proofFault ?? 'missing'
    if (action === 'client_refused' || proofFault) audit.write({ action, client_id: error.client_id, reason, ...where })
    return
  }
  if (caller === undefined) return
  if (reuse) audit.write({ action: 'reuse_detected', client_id: caller, reason: reuse.of, sub: reuse.sub, ...where })
  const { target } = exchange.operation ?? {}
  const isToken = target?.kind === 'serve' && target.serves === 'token'
  // A client that is told a nonce comes back with it: that is how it begins (RFC 9449 section 8).
  if (isToken && code !== 'use_dpop_nonce')
    audit.write({ action: 'token_refused', client_id: caller, reason: code, ...where })
}

/** Whether it is the client's proof that is refused, and not what it asks for. */
const isForProof = ({ code }: OAuthError): boolean => code === 'invalid_client' || code === 'rate_limit_exceeded'

const placeOf = ({ context }: Exchange) => ({ address: context.address, request_id: context.id })
