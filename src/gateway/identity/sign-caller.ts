import type { AuthorizationServer } from '../../oauth/index.ts'
import type { Step } from '../exchange.ts'

/**
 * Step 6: who is calling, signed for the upstream, where the grouping says so. Nobody is vouched for who has proven
 * nothing: then the upstream gets no assertion.
 */
export const signCaller =
  (server: Pick<AuthorizationServer, 'vouch'>): Step =>
  exchange => {
    const { operation, caller } = exchange
    if (operation?.target.kind !== 'forward' || operation.target.identity === 'headers') return undefined
    const { grouping, target } = operation
    if (caller?.kind === 'token') exchange.assertion = server.vouch(caller.token, grouping, target.resource)
    else if (caller?.kind === 'client') exchange.assertion = server.vouch(caller.client, grouping, target.resource)
    return undefined
  }
