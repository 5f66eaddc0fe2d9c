import type { Exchange, Outcome } from '../exchange.ts'
import { refuse } from '../refusal.ts'

/** Last step: the request that another gateway asks about may pass, and this is who sent it. */
export const answerCheck = (exchange: Exchange): Outcome => {
  const { operation, check } = exchange
  if (check === undefined || operation?.target.kind !== 'elsewhere') return refuse(exchange, 'INTERNAL')
  const headers = [...callerFields(exchange), 'x-sidegate-grouping', operation.grouping, 'cache-control', 'no-store']
  return { status: 200, headers, body: '' }
}

/**
 * All of them, empty where there is nothing to say: gateways copy those that are there, and would leave in place what a client
 * sent under the name of another.
 */
const callerFields = ({ caller }: Exchange): readonly string[] => {
  if (caller?.kind === 'token') return identityFields(caller.token.client_id, caller.token.sub, caller.token.scope)
  return identityFields(caller?.kind === 'client' ? caller.client.client_id : '')
}

const identityFields = (client_id: string, subject = '', scope = ''): readonly string[] => [
  'x-sidegate-client-id',
  client_id,
  'x-sidegate-subject',
  subject,
  'x-sidegate-scope',
  scope,
]
