import { isCertificateOf } from '../../oauth/sender-constraint/confirmation.ts'
import type { AccessTokenRecord } from '../../stores/ports/tokens.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import {
  acceptToken,
  isToken68,
  malformedToken,
  missingToken,
  notGood,
  notProven,
  refuseToken,
} from './access-token.ts'
import type { AuthenticationDeps, AuthenticationStep } from './authentication-step.ts'
import { proveKeyHolder } from './dpop.ts'
import { hasSecretParameter } from './query-credentials.ts'

/**
 * Verifies an access token in the Authorization field: RFC 6750 section 2.1, or with the proof of a key, RFC 9449
 * section 7.1. A token in the query is refused (RFC 9700 section 4.3.2).
 */
export const proveBearer = (deps: AuthenticationDeps): AuthenticationStep => {
  const proveKey = proveKeyHolder(deps)
  return (exchange, operation) => {
    const { authorization } = exchange.context.fields
    if (hasSecretParameter(exchange.target?.query ?? '')) return malformedToken(exchange, 'Bearer')
    const [line] = authorization
    if (line === undefined) return missingToken(exchange)
    if (authorization.length > 1) return malformedToken(exchange, 'Bearer')
    const bearerToken = tokenAfter('bearer ', line)
    if (bearerToken !== undefined) return proveToken(deps, exchange, operation, bearerToken)
    const boundToken = tokenAfter('dpop ', line)
    if (boundToken !== undefined) return proveKey(exchange, operation, boundToken)
    if (/^bearer(?: |$)/i.test(line)) return malformedToken(exchange, 'Bearer')
    return /^dpop(?: |$)/i.test(line) ? malformedToken(exchange, 'DPoP') : missingToken(exchange)
  }
}

/**
 * The text after the scheme, which is matched in any case. Undefined if the line has another scheme, or nothing after
 * it.
 */
const tokenAfter = (scheme: string, line: string): string | undefined =>
  line.length > scheme.length && line.slice(0, scheme.length).toLowerCase() === scheme
    ? line.slice(scheme.length).trim() || undefined
    : undefined

const proveToken = (
  deps: AuthenticationDeps,
  exchange: Exchange,
  operation: MeteredOperation,
  token: string,
): Outcome | Promise<Outcome> => {
  const settle = (record: AccessTokenRecord | undefined): Outcome | Promise<Outcome> => {
    if (record && (record.cnf === undefined || isHolder(exchange, record.cnf))) {
      return acceptToken(deps, exchange, operation, 'Bearer', record)
    }
    if (record) return refuseToken(deps, exchange, operation, 'Bearer', notProven)
    // The syntax is checked only after the lookup failed, because a valid token is well-formed.
    return isToken68(token)
      ? refuseToken(deps, exchange, operation, 'Bearer', notGood)
      : malformedToken(exchange, 'Bearer')
  }
  const record = deps.authorizationServer.verifyAccessToken(token)
  return record instanceof Promise ? record.then(settle) : settle(record)
}

/**
 * Whether this connection's certificate is the one that the token is bound to (RFC 8705 section 3). A token that is
 * bound to a key is accepted only in the DPoP scheme (RFC 9449 section 7.2).
 */
const isHolder = ({ context }: Exchange, cnf: NonNullable<AccessTokenRecord['cnf']>): boolean =>
  !('jkt' in cnf) && isCertificateOf(cnf, () => context.clientCertificate()?.certificate)
