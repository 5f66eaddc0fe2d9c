import type { OAuthError } from '../errors.ts'
import type { OAuthFacts } from '../oauth/wire.ts'
import type { Audit } from '../telemetry/audit.ts'
import { isForProof } from './callers/client.ts'
import type { Exchange } from './exchange.ts'

/** What an operation of the authorization server did, in the audit log; no way of a forwarded request comes by here. */
export const auditAnswer = (audit: Audit, exchange: Exchange, facts: OAuthFacts): void => {
  const { client_id = '', issued, revoked, signIn, introspection, proofFault } = facts
  const where = placeOf(exchange)
  if (issued) audit.write({ action: 'token_issued', client_id, ...issued, scope: orNone(issued.scope), ...where })
  if (revoked) audit.write({ action: 'token_revoked', client_id, ...revoked, ...where })
  if (introspection) audit.write({ action: 'token_introspected', client_id, reason: introspection, ...where })
  if (proofFault) audit.write({ action: 'client_refused', client_id: facts.client_id, reason: proofFault, ...where })
  if (signIn?.outcome === 'done') audit.write({ action: 'signed_in', client_id, sub: signIn.sub, ...where })
  else if (signIn) audit.write({ action: `sign_in_${signIn.outcome}`, client_id, sub: signIn.sub, ...where })
  if (facts.interaction) auditConsent(audit, exchange, facts)
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

/** What it refused: a client that did not prove itself, or one that did and asked for what it cannot have. */
export const auditRefusal = (audit: Audit, exchange: Exchange, error: OAuthError): void => {
  if (isForProof(error)) auditUnproven(audit, exchange, error)
  else if (exchange.caller?.kind === 'client') auditRefused(audit, exchange, exchange.caller.client.client_id, error)
}

/** Who is refused unheard, after too many failures, is told of no more: the failure that was one too many stands before. */
const auditUnproven = (audit: Audit, exchange: Exchange, { code, proofFault, client_id }: OAuthError): void => {
  const facts = { client_id, reason: proofFault ?? 'missing', ...placeOf(exchange) }
  if (code === 'invalid_client') audit.write({ action: 'client_refused', ...facts })
  else if (proofFault) audit.write({ action: 'client_blocked', ...facts })
}

const auditRefused = (audit: Audit, exchange: Exchange, client_id: string, { code, reuse }: OAuthError): void => {
  const who = { client_id, ...placeOf(exchange) }
  if (reuse) audit.write({ action: 'reuse_detected', ...who, reason: reuse.of, sub: reuse.sub })
  const { target } = exchange.operation ?? {}
  const isToken = target?.kind === 'serve' && target.serves === 'token'
  // A client that is told a nonce comes back with it: that is how it begins (RFC 9449 section 8).
  if (isToken && code !== 'use_dpop_nonce') audit.write({ action: 'token_refused', ...who, reason: code })
}

/** No scope is no member of a line. */
const orNone = (scope: string | undefined): string | undefined => (scope === '' ? undefined : scope)

const placeOf = ({ context }: Exchange) => ({ address: context.address, request_id: context.id })
