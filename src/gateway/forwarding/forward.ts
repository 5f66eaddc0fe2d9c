import { refuse } from '../error-response.ts'
import type { Outcome, Step } from '../exchange.ts'
import type { ForwardDeps } from './forward-deps.ts'
import { RoundTrip } from './round-trip.ts'
import { declaresTooMuch } from './upstream-request.ts'
import { forwardUpgrade } from './websocket.ts'

/**
 * Forwards the request to its upstream and streams both ways. Operations that another proxy forwards skip this step.
 * 413, 502, 503, 504.
 */
export const forward = (deps: ForwardDeps): Step => {
  const upgrade = forwardUpgrade(deps)
  return (exchange): Outcome | Promise<Outcome> => {
    const { operation } = exchange
    if (operation?.target.kind !== 'forward') return undefined
    // The client left while an earlier step waited: its connection has reported that already.
    if (exchange.context.response.isOver) return 'gone'
    if (declaresTooMuch(exchange, operation)) return refuse(exchange, 'BODY_TOO_LARGE')
    if (exchange.isUpgrade) return upgrade(exchange)
    const upstream = deps.upstreams.get(operation.target.upstream)
    if (upstream === undefined) return refuse(exchange, 'INTERNAL')
    new RoundTrip(deps, exchange, operation, upstream).start()
    return 'taken'
  }
}
