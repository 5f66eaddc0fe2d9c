import { refuse } from '../error-response.ts'
import type { Caller, Exchange, Outcome } from '../exchange.ts'

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
