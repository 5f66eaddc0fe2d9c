import type { Reply } from '../../http/reply.ts'
import { refuse } from '../error-response.ts'
import type { Caller, Check, Exchange, Outcome } from '../exchange.ts'
import { hasBody } from '../forwarding/upstream-request.ts'

/**
 * Last step: the request that another gateway asks about may pass, and this is who sent it. All names are said, empty where
 * there is nothing to say: gateways copy those that are there, and would leave in place what a client sent under the name of
 * another.
 */
export const allowResponse = (exchange: Exchange): Outcome => {
  const { operation, check, caller, assertion = '' } = exchange
  if (check === undefined || operation?.target.kind !== 'elsewhere') return refuse(exchange, 'INTERNAL')
  const identity = operation.target.identity === 'assertion' ? nobody : identityOf(caller, operation.grouping)
  const headers = [...identity, 'x-sidegate-assertion', assertion, 'cache-control', 'no-store']
  return { status: 200, headers, body: '' }
}

const identityOf = (caller: Caller | undefined, grouping: string): readonly string[] => {
  if (caller?.kind === 'token') {
    return identityFields(grouping, caller.token.client_id, caller.token.sub, caller.token.scope)
  }
  return identityFields(grouping, caller?.kind === 'client' ? caller.client.client_id : '')
}

const identityFields = (grouping: string, client_id = '', subject = '', scope = ''): readonly string[] => [
  'x-sidegate-client-id',
  client_id,
  'x-sidegate-subject',
  subject,
  'x-sidegate-scope',
  scope,
  'x-sidegate-grouping',
  grouping,
]

/** Where the assertion alone is to be read. */
const nobody = identityFields('')

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
