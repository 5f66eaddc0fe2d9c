import type { Reply } from '../../http/reply.ts'
import { refuse } from '../error-response.ts'
import type { Caller, Check, Exchange, Outcome } from '../exchange.ts'
import { hasBody } from '../forwarding/upstream-request.ts'

/**
 * Answers that the original request may pass, and which client and user sent it. All identity fields are present, empty
 * if there is no value: proxies copy only the fields that are present, and would otherwise keep a field of the same
 * name that the client sent.
 */
export const allowResponse = (exchange: Exchange): Outcome => {
  const { operation, check, caller, assertion = '' } = exchange
  if (check === undefined || operation?.target.kind !== 'elsewhere') return refuse(exchange, 'INTERNAL')
  const identity = operation.target.identity === 'assertion' ? noIdentity : identityOf(caller, operation.grouping)
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

/** If only the assertion tells the identity. */
const noIdentity = identityFields('')

/** The decision on a request in the form that the proxy understands. */
export const toCheckReply = (exchange: Exchange, { gateway }: Check, decision: Reply): Reply => {
  const reply = gateway === 'nginx' ? forNginx(decision) : decision
  // The head announces the body of the original request, which the proxy keeps. So the connection cannot be framed any
  // further.
  return hasBody(exchange) ? { ...reply, close: true } : reply
}

/** The statuses that `auth_request` accepts. nginx answers 500 to any other. */
const nginxStatuses: readonly number[] = [200, 401, 403]

/** Any other status becomes 403, so that nginx refuses the request however `X-Sidegate-Status` is configured. */
const forNginx = (decision: Reply): Reply => ({
  ...decision,
  status: nginxStatuses.includes(decision.status) ? decision.status : 403,
  headers: [...decision.headers, 'x-sidegate-status', String(decision.status)],
})
