import { parseTarget } from '../../http/message/request-target.ts'
import { refuse } from '../error-response.ts'
import { type Exchange, enter, type Outcome } from '../exchange.ts'
import { readOriginalRequest } from '../forward-auth/original-request.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { Routes } from './route-table.ts'

/**
 * Finds the operation of the original request of a forward-auth request. The following steps treat the original request
 * as if it had been sent here: 400, 404, 405. Clients that are not trusted get 403.
 * @param asking the operation that serves forward auth
 */
export const matchOriginal = (
  routes: Routes<MeteredOperation>,
  exchange: Exchange,
  asking: MeteredOperation,
): Outcome => {
  const { method, trustedPeer } = exchange.context
  if (asking.target.kind !== 'check') return refuse(exchange, 'INTERNAL')
  if (!trustedPeer) {
    enter(exchange, asking)
    return refuse(exchange, 'FORWARD_AUTH_CALLER_UNTRUSTED')
  }
  const { gateway } = asking.target
  exchange.check = { gateway, method }
  const original = readOriginalRequest(gateway, exchange, asking)
  if (original.kind === 'unreadable') {
    enter(exchange, asking)
    return refuse(exchange, 'FORWARD_AUTH_REQUEST_INVALID', { members: { reason: original.reason } })
  }
  exchange.check = { gateway, method: original.method }
  exchange.target = parseTarget(original.uri)
  if (exchange.target === undefined) return refuse(exchange, 'BAD_REQUEST')
  return enterMatch(exchange, routes.matchElsewhere(original.method, exchange.target.path))
}

const enterMatch = (exchange: Exchange, match: ReturnType<Routes<MeteredOperation>['matchElsewhere']>): Outcome => {
  switch (match.kind) {
    case 'operation':
      enter(exchange, match.operation)
      return undefined
    case 'method_not_allowed':
      enter(exchange, match.operation)
      return refuse(exchange, 'METHOD_NOT_ALLOWED', { headers: ['allow', match.allow.join(', ')] })
    default:
      return refuse(exchange, 'NOT_FOUND')
  }
}
