import { parseTarget } from '../../http/message/request-target.ts'
import type { Reply } from '../../http/reply.ts'
import { refuse } from '../error-response.ts'
import { enter, type Outcome, type Step } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import { matchOriginal } from './match-original.ts'
import type { Routes } from './route-table.ts'

/** Finds the operation of the request. Refuses ambiguous targets with 400, unpublished ones with 404; 405; 417. */
export const matchRoute =
  (routes: Routes<MeteredOperation>): Step =>
  (exchange): Outcome => {
    const { method, fields, request } = exchange.context
    const { target } = request.head
    // The parser accepts it only with OPTIONS.
    if (target === '*') return ofTheServer
    exchange.target = parseTarget(target)
    if (exchange.target === undefined) return refuse(exchange, 'BAD_REQUEST')
    const match = routes.match(method, exchange.target.path)
    switch (match.kind) {
      case 'not_found':
        return refuse(exchange, 'NOT_FOUND')
      case 'method_not_allowed':
        enter(exchange, match.operation)
        return refuse(exchange, 'METHOD_NOT_ALLOWED', { headers: ['allow', match.allow.join(', ')] })
      case 'operation':
        enter(exchange, match.operation)
        if (fields.expect !== undefined && fields.expect.toLowerCase() !== '100-continue') {
          return refuse(exchange, 'EXPECTATION_FAILED')
        }
        return undefined
      case 'check':
        return matchOriginal(routes, exchange, match.operation)
    }
  }

/** `OPTIONS *` concerns the server, not an operation (RFC 9110 section 9.3.7): the gateway answers it itself. */
const ofTheServer: Reply = { status: 204, headers: [], body: '' }
