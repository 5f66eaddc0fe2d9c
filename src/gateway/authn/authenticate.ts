import { refuse } from '../error-response.ts'
import type { Step } from '../exchange.ts'
import { acceptAnonymous } from './anonymous.ts'
import type { AuthenticationDeps } from './authentication-step.ts'
import { proveBearer } from './bearer.ts'
import { proveClient, proveQuery } from './oauth-client.ts'

/**
 * Identifies the caller. The credentials are verified before anything is charged or done: 400, 401, 403, 408, 413, 429.
 */
export const authenticate = (deps: AuthenticationDeps): Step => {
  const byKind = {
    bearer: proveBearer(deps),
    client: proveClient(deps),
    query: proveQuery(deps),
    none: acceptAnonymous(deps),
  }
  return exchange => {
    const { operation } = exchange
    if (operation === undefined) return refuse(exchange, 'NOT_FOUND')
    return byKind[operation.credentials](exchange, operation)
  }
}
