import type { Reply } from '../../http/reply.ts'
import type { SingleUse } from '../../oauth/replay-protection.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import { refuse } from '../error-response.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { AuthenticationDeps } from './authentication-step.ts'
import { hasScopes } from './granted-scopes.ts'
import { challenge, challenges, type TokenScheme } from './www-authenticate.ts'

/** Decides about a caller's access token, whichever scheme it was sent in. */

/** The scheme as the label of the metric. */
const credentials = { Bearer: 'bearer', DPoP: 'dpop' } as const satisfies Record<TokenScheme, string>

/**
 * There is no token, or it was sent in another scheme. The response names the supported schemes, as if nothing had been
 * sent.
 */
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

/** The syntax of a token in both schemes: RFC 9110 section 11.2. */
export const isToken68 = (text: string): boolean => /^[A-Za-z0-9._~+/-]+=*$/.test(text)

/**
 * A valid token, sent by its holder: decides whether it is good for this operation.
 * @param pendingReplayChecks are consumed before anything is done for the request; the credential is counted then
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

/** The description of an error for a token that is invalid, or valid for something else. */
export const notGood = 'expired, revoked, for another resource or not issued here'

/**
 * The description of an error for a valid token that is bound to a key or certificate which the caller does not prove
 * to hold.
 */
export const notProven = 'bound to a key or a certificate that this request does not prove to hold'

/**
 * Refuses a token. After too many refused tokens from one address the response is 429. Valid tokens are never counted.
 */
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

/** Counts a failure that names no client, for its address alone. Returns the response if there were too many. */
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
