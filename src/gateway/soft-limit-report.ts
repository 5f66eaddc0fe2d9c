import type { Logger } from '../telemetry/logger.ts'
import { claimedClientIdOf, type Exchange } from './exchange.ts'

/** Logs which clients exceed a soft limit; their requests are admitted. */
export interface SoftLimitReport {
  /** @param windowMs for how long no further line is written for this plan and caller */
  exceeded(exchange: Exchange, plan: string, windowMs: number): void
}

/** How many callers are remembered as reported. Beyond that the oldest is forgotten, and may be reported again. */
const mostRemembered = 10_000

/** At most one line for each window, plan and caller, in each process. */
export const createSoftLimitReport = (log: Logger, nowMs: () => number): SoftLimitReport => {
  const quietUntil = new Map<string, number>()
  return {
    exceeded(exchange, plan, windowMs) {
      const { context, operation } = exchange
      const client_id = claimedClientIdOf(exchange)
      const key = `${plan} ${client_id ?? context.address}`
      if ((quietUntil.get(key) ?? 0) > nowMs()) return
      quietUntil.delete(key)
      if (quietUntil.size >= mostRemembered) quietUntil.delete(quietUntil.keys().next().value ?? '')
      quietUntil.set(key, nowMs() + windowMs)
      log.warn(
        { event: 'soft_limit_exceeded', plan, client_id, address: context.address, operation: operation?.label },
        'a client is over a soft limit of its plan: let in',
      )
    },
  }
}
