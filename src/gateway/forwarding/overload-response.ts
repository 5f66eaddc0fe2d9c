import type { Reply } from '../../http/reply.ts'
import { refuse } from '../error-response.ts'
import type { Exchange } from '../exchange.ts'

/** Seconds after which it is worth another try. */
const retryAfterSec = 1

/** The answer where the upstream has no room for a request. */
export const refuseOverload = (exchange: Exchange): Reply =>
  refuse(exchange, 'UPSTREAM_BUSY', { headers: ['retry-after', String(retryAfterSec)] })
