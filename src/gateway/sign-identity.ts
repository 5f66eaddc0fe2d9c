import type { AuthorizationServer } from '../oauth/index.ts'
import type { Step } from './exchange.ts'

/**
 * Signs the caller's identity for the upstream if the grouping asks for it. Without an authenticated caller the
 * upstream gets no assertion.
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
