import type { Reply } from '../../http/reply.ts'
import type { SingleUse } from '../../oauth/replay-protection.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import { refuse } from '../error-response.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { AuthenticationDeps } from './authentication-step.ts'
import { hasScopes } from './granted-scopes.ts'
import { challenge, challenges, type TokenScheme } from './www-authenticate.ts'

/** What a caller's access token leads to, in whichever scheme it was sent. */

/** The labels of the metric. */
const credentials = { Bearer: 'bearer', DPoP: 'dpop' } as const satisfies Record<TokenScheme, string>

/** No token, or another scheme: whoever used that is told which are wanted, as if it had sent nothing. */
export const missingToken = (exchange: Exchange): Reply => {
  exchange.operation?.meter.credential(credentials.Bearer, 'missing')
  return refuse(exchange, 'CREDENTIAL_MISSING', { headers: challenges(exchange.operation, 'Bearer') })
}

/** RFC 6750 section 3.1. */
export const malformedToken = (exchange: Exchange, scheme: TokenScheme): Reply => {
  exchange.operation?.meter.credential(credentials[scheme], 'refused')
  return refuse(exchange, 'CREDENTIAL_MALFORMED', {
    headers: challenge(exchange.operation, scheme, { error: 'invalid_request' }),
  })
}

/** The form of a token in either scheme: RFC 9110 section 11.2. */
export const isToken68 = (text: string): boolean => /^[A-Za-z0-9._~+/-]+=*$/.test(text)

/**
 * A token that is good, sent by who may use it: is it good for this operation?
 * @param pendingReplayChecks what is to be spent before anything is done for it; then it is counted, too
 */
export const acceptToken = (
  deps: AuthenticationDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  scheme: TokenScheme,
  token: AccessTokenRecord,
  pendingReplayChecks: readonly SingleUse[] = [],
): Outcome | Promise<Outcome> => {
  const client = deps.findClient(token.client_id)
  if (client === undefined || !isAudience(token, operation, deps.issuer)) {
    return refuseToken(deps, exchange, operation, scheme, notGood)
  }
  if (!hasScopes(token.scope, operation.scopes)) {
    operation.meter.credential(credentials[scheme], 'refused')
    return refuse(exchange, 'SCOPE_INSUFFICIENT', {
      headers: challenge(operation, scheme, { error: 'insufficient_scope', scope: operation.scopes.join(' ') }),
    })
  }
  if (pendingReplayChecks.length === 0) operation.meter.credential(credentials[scheme], 'ok')
  exchange.caller = { kind: 'token', client, token, pendingReplayChecks }
  return undefined
}

/** What a caller is told about a token that is none, or not for here. */
export const notGood = 'expired, revoked, for another resource or not issued here'

/** What a caller is told who has a good token and not what it is bound to. */
export const notProven = 'bound to a key or a certificate that this request does not prove to hold'

/** A token that is not good. Whoever keeps trying them from one address is told to wait; good tokens never are. */
export const refuseToken = async (
  deps: AuthenticationDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  scheme: TokenScheme,
  error_description: string,
): Promise<Outcome> => {
  operation.meter.credential(credentials[scheme], 'refused')
  return (
    (await countRefused(deps, exchange)) ??
    refuse(exchange, 'CREDENTIAL_INVALID', {
      headers: challenges(operation, scheme, { error: 'invalid_token', error_description }),
    })
  )
}

/** Counts what names nobody for its address alone. Answers where there was too much of it. */
export const countRefused = async (deps: AuthenticationDeps, exchange: Exchange): Promise<Reply | undefined> => {
  const waitMs = await deps.failures.countAddress(exchange.context.address)
  return waitMs > 0 ? refuse(exchange, 'TOO_MANY_FAILURES', { headers: retryAfter(waitMs) }) : undefined
}

const isAudience = (token: AccessTokenRecord, operation: MeteredOperation, issuer: string): boolean => {
  const { aud } = token
  const { target } = operation
  const resource = target.kind === 'forward' || target.kind === 'elsewhere' ? target.resource : issuer
  return typeof aud === 'string' ? aud === issuer || aud === resource : aud.includes(issuer) || aud.includes(resource)
}

/** RFC 9110 section 10.2.3: whole seconds, rounded up so that a request sent then gets in. */
const retryAfter = (waitMs: number): readonly string[] => ['retry-after', String(Math.max(1, Math.ceil(waitMs / 1000)))]
