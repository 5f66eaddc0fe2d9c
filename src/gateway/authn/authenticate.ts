import type { ClientRegistration } from '../../oauth/clients/metadata.ts'
import type { AuthorizationServer } from '../../oauth/index.ts'
import { refuse } from '../error-response.ts'
import type { Exchange, Outcome, Step } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import { acceptAnonymous } from './anonymous.ts'
import { proveBearer } from './bearer.ts'
import type { BruteForceLimit } from './brute-force-limit.ts'
import { proveClient, proveQuery } from './oauth-client.ts'

export interface AuthenticationDeps {
  readonly authorizationServer: AuthorizationServer
  readonly findClient: (client_id: string) => ClientRegistration | undefined
  readonly issuer: string
  readonly failures: BruteForceLimit
}

/** Proves one kind of credential: sets the caller, or answers. */
export type AuthenticationStep = (exchange: Exchange, operation: MeteredOperation) => Outcome | Promise<Outcome>

/** Step 2: who is calling. The proof is checked before anything is charged or done: 400, 401, 403, 408, 413, 429. */
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
