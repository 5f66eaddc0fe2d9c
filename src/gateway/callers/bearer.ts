import type { Reply } from '../../http/reply.ts'
import type { AccessTokenRecord } from '../../stores/ports.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import type { CallerDeps, CallerStep } from './prove-caller.ts'
import { hasSecretParameter } from './query-credentials.ts'

const realm = 'Bearer realm="sidegate"'

/** RFC 6750 section 2.1; a bearer token in the query is refused (RFC 9700 section 4.3.2). */
export const proveBearer =
  (deps: CallerDeps): CallerStep =>
  (exchange, operation) => {
    const { authorization } = exchange.context.fields
    if (hasSecretParameter(exchange.target?.query ?? '')) return malformedBearer(exchange)
    const [line] = authorization
    if (line === undefined) return missingBearer(exchange)
    const token = authorization.length === 1 ? bearerToken(line) : undefined
    if (token === undefined) {
      return authorization.length === 1 && !isBearer(line) ? missingBearer(exchange) : malformedBearer(exchange)
    }
    const settle = (record: AccessTokenRecord | undefined): Outcome | Promise<Outcome> => {
      if (record) return acceptToken(deps, exchange, operation, record)
      // Looked at only now: a token that is good is well-formed too.
      return isToken68(token) ? refuseToken(deps, exchange, operation) : malformedBearer(exchange)
    }
    const record = deps.authorizationServer.verifyAccessToken(token)
    return record instanceof Promise ? record.then(settle) : settle(record)
  }

/** What follows `Bearer`, which is matched in any case; undefined where the line is another's or holds nothing. */
const bearerToken = (line: string): string | undefined =>
  line.length < 8 || line.slice(0, 7).toLowerCase() !== 'bearer ' ? undefined : line.slice(7).trim() || undefined

/** The form of a bearer token: RFC 6750 section 2.1. */
const isToken68 = (text: string): boolean => /^[A-Za-z0-9._~+/-]+=*$/.test(text)

/** RFC 6750 section 3.1: whoever used another scheme is told which one is wanted, as if it had sent nothing. */
const isBearer = (line: string): boolean => /^bearer(?: |$)/i.test(line)

const missingBearer = (exchange: Exchange): Reply => {
  exchange.operation?.meter.credential('bearer', 'missing')
  return refuse(exchange, 'CREDENTIAL_MISSING', { headers: ['www-authenticate', realm] })
}

const malformedBearer = (exchange: Exchange): Reply => {
  exchange.operation?.meter.credential('bearer', 'refused')
  return refuse(exchange, 'CREDENTIAL_MALFORMED', {
    headers: ['www-authenticate', `${realm}, error="invalid_request"`],
  })
}

const acceptToken = (
  deps: CallerDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  token: AccessTokenRecord,
): Outcome | Promise<Outcome> => {
  const client = deps.findClient(token.client_id)
  if (client === undefined || !isAudience(token, operation, deps.issuer)) {
    return refuseToken(deps, exchange, operation)
  }
  if (!hasScopes(token.scope, operation.scopes)) {
    operation.meter.credential('bearer', 'refused')
    const scope = operation.scopes.join(' ')
    return refuse(exchange, 'SCOPE_INSUFFICIENT', {
      headers: ['www-authenticate', `${realm}, error="insufficient_scope", scope="${scope}"`],
    })
  }
  operation.meter.credential('bearer', 'ok')
  exchange.caller = { kind: 'token', client, token }
  return undefined
}

/** A token that is not good. Whoever keeps trying them from one address is told to wait; good tokens never are. */
const refuseToken = async (deps: CallerDeps, exchange: Exchange, operation: MeteredOperation): Promise<Outcome> => {
  operation.meter.credential('bearer', 'refused')
  const waitMs = await deps.failures.countAddress(exchange.context.address)
  if (waitMs > 0) return refuse(exchange, 'TOO_MANY_FAILURES', { headers: retryAfter(waitMs) })
  return refuse(exchange, 'CREDENTIAL_INVALID', {
    headers: [
      'www-authenticate',
      `${realm}, error="invalid_token", error_description="expired, revoked, for another resource or not issued here"`,
    ],
  })
}

const isAudience = (token: AccessTokenRecord, operation: MeteredOperation, issuer: string): boolean => {
  const { aud } = token
  const resource = operation.target.kind === 'forward' ? operation.target.resource : issuer
  return typeof aud === 'string' ? aud === issuer || aud === resource : aud.includes(issuer) || aud.includes(resource)
}

const hasScopes = (granted: string, needed: readonly string[]): boolean => {
  if (needed.length === 0) return true
  if (needed.length === 1 && granted === needed[0]) return true
  const scopes = granted.split(' ')
  return needed.every(scope => scopes.includes(scope))
}

/** RFC 9110 section 10.2.3: whole seconds, rounded up so that a request sent then gets in. */
const retryAfter = (waitMs: number): readonly string[] => ['retry-after', String(Math.max(1, Math.ceil(waitMs / 1000)))]
