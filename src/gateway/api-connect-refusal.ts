import type { Reply } from '../http/reply.ts'
import { refuse } from './error-response.ts'
import type { Exchange } from './exchange.ts'

/** What API Connect answers over the rate limit. */
const members = { httpCode: '429', httpMessage: 'Too Many Requests', moreInformation: 'Rate Limit exceeded' }

/**
 * A plan that is used up, as clients of API Connect know it. What speaks OAuth says that too: RFC 6749 section 5.2 lets its
 * JSON have further members.
 */
export const refuseAsApiConnect = (exchange: Exchange, headers: readonly string[]): Reply => {
  if (exchange.operation?.speaksOAuth) return refuse(exchange, 'PLAN_EXCEEDED', { headers, members })
  return {
    status: 429,
    headers: ['content-type', 'application/json', 'cache-control', 'no-store', ...headers],
    body: JSON.stringify(members),
  }
}
