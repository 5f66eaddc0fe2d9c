import type { Reply } from '../../http/reply.ts'
import { parseTarget } from '../../http/target.ts'
import { findChecked } from '../check/find-checked.ts'
import { type Exchange, enter, type Outcome, type Step } from '../exchange.ts'
import type { MeteredOperation } from '../meter.ts'
import { refuse } from '../refusal.ts'
import type { Routes } from './route-table.ts'

/** Step 1: which operation is asked for. Refuses what cannot be read in one way only: 400; unpublished: 404; 405; 417. */
export const matchRoute =
  (routes: Routes<MeteredOperation>): Step =>
  (exchange): Outcome => {
    const { req, fields } = exchange.context
    if (req.url === '*' && req.method === 'OPTIONS' && isWellFormed(exchange)) return ofTheServer
    exchange.target = parseTarget(req.url ?? '')
    if (exchange.target === undefined || !isWellFormed(exchange)) return refuse(exchange, 'BAD_REQUEST')
    const match = routes.match(req.method ?? '', exchange.target.path)
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
        return findChecked(routes, exchange, match.operation)
    }
  }

/** `OPTIONS *` asks about the server, not about an operation (RFC 9110 section 9.3.7): the gateway answers for itself. */
const ofTheServer: Reply = { status: 204, headers: [], body: '' }

/**
 * What Node's parser lets through: other versions, a Host that is none or not the only one, a transfer coding other than plain
 * `chunked`, or any in HTTP/1.0.
 */
const isWellFormed = (exchange: Exchange): boolean => {
  const { fields, req } = exchange.context
  if (req.httpVersionMajor !== 1 || req.httpVersionMinor > 1) return false
  if (fields.hostCount > 1 || (fields.hostCount === 0 && req.httpVersionMinor > 0)) return false
  if (fields.host !== undefined && !isHost(fields.host)) return false
  if (fields.transferEncoding === undefined) return true
  // RFC 9112 section 6.1: in HTTP/1.0 the framing is faulty, since what is before us may not have understood it.
  return req.httpVersionMinor > 0 && fields.transferEncoding.toLowerCase() === 'chunked'
}

/** RFC 9110 section 7.2: a name or an address, with a port or without. What else stands there, upstreams would take for more. */
const hostForm = /^(?:[\w.~!$&'()*+,=%-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/

/** The last one that was good: nearly every request asks for the same. */
let goodHost = ''

const isHost = (host: string): boolean => {
  if (host === goodHost) return true
  if (!hostForm.test(host)) return false
  goodHost = host
  return true
}
