import type { AuthorizationServer } from '../../oauth/index.ts'
import type { Exchange, Outcome } from '../exchange.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { StreamRegistry } from './long-lived-streams.ts'

/** The parts of the gateway that forwarded requests and WebSockets use. */
export interface ForwardDeps {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /**
   * Called once when a forwarded response or a WebSocket has ended or failed.
   * @param status as the client saw it (499: it left)
   */
  finish(exchange: Exchange, status: number): void
  /** Writes an error response if no response has begun. */
  reply(exchange: Exchange, outcome: Outcome): void
  /** Whether responses close their connections, because the process is about to stop. */
  isDraining(): boolean
  /** The event streams and WebSockets that are open. */
  readonly streams: StreamRegistry
  readonly isTokenExpiredOrRevoked: AuthorizationServer['isTokenExpiredOrRevoked']
}
