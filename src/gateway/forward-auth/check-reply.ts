import type { Reply } from '../../http/reply.ts'
import type { Check, Exchange } from '../exchange.ts'
import { hasBody } from '../forwarding/upstream-request.ts'

/** The decision on a request as the gateway that asked understands it. */
export const toCheckReply = (exchange: Exchange, { gateway }: Check, decision: Reply): Reply => {
  const reply = gateway === 'nginx' ? forNginx(decision) : decision
  // The header announces the body of the original request, which stays with the gateway: what follows cannot be framed.
  return hasBody(exchange) ? { ...reply, close: true } : reply
}

/** All that `auth_request` takes for an answer; whatever else it hears, nginx answers 500. */
const nginxStatuses: readonly number[] = [200, 401, 403]

/** Any other refusal is 403, so that nginx refuses whatever it is told to make of `X-Sidegate-Status`. */
const forNginx = (decision: Reply): Reply => ({
  ...decision,
  status: nginxStatuses.includes(decision.status) ? decision.status : 403,
  headers: [...decision.headers, 'x-sidegate-status', String(decision.status)],
})
