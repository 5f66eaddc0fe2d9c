import type { AuthorizationServer } from '../oauth/index.ts'
import type { OAuthReply } from '../oauth/protocol.ts'
import type { Audit } from '../telemetry/audit.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import { auditResponse } from './audit-events.ts'
import { countWhenSettled } from './authn/oauth-client.ts'
import { refuse } from './error-response.ts'
import type { Exchange, Outcome, Step } from './exchange.ts'
import { createOAuthMetrics } from './oauth-metrics.ts'
import { toReply } from './oauth-reply.ts'
import type { Target } from './operation.ts'

/** Serves the operations of Sidegate itself. Forwarded operations skip this step. */
export const serveOperation = (authorizationServer: AuthorizationServer, recorder: Recorder, audit: Audit): Step => {
  const count = createOAuthMetrics(recorder)
  const finish = (exchange: Exchange, reply: OAuthReply): Outcome => {
    const { facts } = reply
    if (facts !== undefined) {
      exchange.facts = facts
      count(facts)
      if (facts.issued !== undefined) exchange.chargeProven?.()
      if (facts.error) exchange.operation?.meter.oauthError(facts.error)
      auditResponse(audit, exchange, facts)
    }
    return toReply(reply)
  }
  return exchange => {
    const { operation } = exchange
    if (operation?.target.kind !== 'serve') return undefined
    const reply = answer(authorizationServer, exchange, operation.target.serves)
    if (reply === undefined) return refuse(exchange, 'INTERNAL')
    if (reply instanceof Promise) return counted(exchange, reply).then(value => finish(exchange, value))
    return finish(exchange, reply)
  }
}

const counted = (exchange: Exchange, reply: Promise<OAuthReply>): Promise<OAuthReply> =>
  exchange.caller?.kind === 'client' && exchange.caller.pendingReplayChecks.length > 0
    ? countWhenSettled(exchange, reply)
    : reply

const answer = (
  server: AuthorizationServer,
  exchange: Exchange,
  serves: Extract<Target, { readonly kind: 'serve' }>['serves'],
): OAuthReply | Promise<OAuthReply> | undefined => {
  const { oauth, caller } = exchange
  if (oauth === undefined) return undefined
  const proven = caller?.kind === 'client' && oauth.form ? { form: oauth.form, caller } : undefined
  switch (serves) {
    case 'token':
      return proven && server.token(proven.form, proven.caller, oauth.request)
    case 'introspect':
      return proven && server.introspect(proven.form, proven.caller, oauth.request)
    case 'revoke':
      return proven && server.revoke(proven.form, proven.caller, oauth.request)
    case 'par':
      return proven && server.par(proven.form, proven.caller, oauth.request)
    case 'authorize':
      return oauth.parameters && server.authorize(oauth.request, oauth.parameters)
    case 'interaction':
      return server.interaction(oauth.request)
    case 'metadata':
      // Its URL may hold a secret, so its response must not be cached, nor be readable by a script.
      return { ...server.metadata(), headers: { 'cache-control': 'no-store' } }
    case 'discovery':
      return server.metadata()
    case 'jwks':
      return server.jwks()
    case 'resource-metadata':
      return server.resourceMetadata(oauth.request)
  }
}
