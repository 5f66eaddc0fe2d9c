import type { ClientRegistration } from '../../oauth/clients/metadata.ts'
import type { AuthorizationServer } from '../../oauth/index.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { MeteredOperation } from '../operation-metrics.ts'
import type { BruteForceLimit } from './brute-force-limit.ts'

export interface AuthenticationDeps {
  readonly authorizationServer: AuthorizationServer
  readonly findClient: (client_id: string) => ClientRegistration | undefined
  readonly issuer: string
  readonly failures: BruteForceLimit
}

/** Verifies one kind of credential: sets the caller, or answers the request. */
export type AuthenticationStep = (exchange: Exchange, operation: MeteredOperation) => Outcome | Promise<Outcome>
