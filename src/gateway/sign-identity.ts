import type { AuthorizationServer } from '../oauth/index.ts'
import type { Step } from './exchange.ts'

/**
 * Step 6: who is calling, signed for the service, where the grouping says so. Nobody is vouched for who has proven
 * nothing: then the service gets no assertion.
 */
export const signIdentity =
  (server: Pick<AuthorizationServer, 'signIdentity'>): Step =>
  exchange => {
    const { operation, caller } = exchange
    if (operation === undefined) return undefined
    const { grouping, target } = operation
    if (target.kind !== 'forward' && target.kind !== 'elsewhere') return undefined
    if (target.identity === 'headers') return undefined
    if (caller?.kind === 'token') exchange.assertion = server.signIdentity(caller.token, grouping, target.resource)
    else if (caller?.kind === 'client')
      exchange.assertion = server.signIdentity(caller.client, grouping, target.resource)
    return undefined
  }
