import type { AuthorizationServer } from '../../oauth/index.ts'
import { refuse } from '../error-response.ts'
import type { Exchange, Outcome, Step } from '../exchange.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { StreamRegistry } from './long-lived-streams.ts'
import { RoundTrip } from './round-trip.ts'
import { declaresTooMuch } from './upstream-request.ts'

export interface ForwardDeps {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Called once a forwarded answer has ended, well or not; `status` is what the client saw (499: it left). */
  finish(exchange: Exchange, status: number): void
  /** Writes a refusal where no answer had begun. */
  reply(exchange: Exchange, outcome: Outcome): void
  /** Whether answers end their connections, since the process is about to stop. */
  isDraining(): boolean
  /** Of event streams. */
  readonly endless: StreamRegistry
  readonly isTokenExpiredOrRevoked: AuthorizationServer['isTokenExpiredOrRevoked']
  /** WebSocket handshakes go another way. */
  readonly upgrade: Step
}

/** Step 7: the upstream round trip, streamed both ways; what another gateway forwards passes. 413, 502, 503, 504. */
export const forward =
  (deps: ForwardDeps): Step =>
  (exchange): Outcome | Promise<Outcome> => {
    const { operation } = exchange
    if (operation?.target.kind !== 'forward') return undefined
    // Whoever left while the steps before waited is not heard of again: its connection has said so already.
    if (exchange.context.response.isOver) return 'gone'
    if (declaresTooMuch(exchange, operation)) return refuse(exchange, 'BODY_TOO_LARGE')
    if (exchange.isUpgrade) return deps.upgrade(exchange)
    const upstream = deps.upstreams.get(operation.target.upstream)
    if (upstream === undefined) return refuse(exchange, 'INTERNAL')
    new RoundTrip(deps, exchange, operation, upstream).start()
    return 'taken'
  }
