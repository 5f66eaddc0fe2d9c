import type { Logger } from '../../telemetry/logger.ts'

type Part = 'store' | 'limiter'

/**
 * Combines what the workers report of the store: writes a log line when it changes, and a line of `/readyz?verbose`.
 */
export interface StoreHealth {
  report(worker: string, part: Part, up: boolean, reason: string | undefined): void
  /**
   * A process has exited. Its failure counts until another process reports that it reaches the store; not at all if one
   * has done so.
   */
  forget(worker: string): void
  /** For a person: `ok`, or what is wrong. */
  finding(part: Part): string
}

const downMessages: Readonly<Record<Part, string>> = {
  store: 'the store does not answer: tokens, introspection and revocation are refused with 503',
  limiter: 'plan limits are kept locally: the shared count does not answer',
}

const upMessages: Readonly<Record<Part, string>> = {
  store: 'the store answers again',
  limiter: 'plan limits are shared again',
}

/** Reporter id for the primary's start-up check and for workers that have exited. */
const nobodyAlive = 'primary'

export const createStoreHealth = (store: string, log: Logger): StoreHealth => {
  const complaining: Readonly<Record<Part, Map<string, string>>> = { store: new Map(), limiter: new Map() }
  const reaching: Readonly<Record<Part, Set<string>>> = { store: new Set(), limiter: new Set() }

  const settle = (part: Part, wasUp: boolean): void => {
    const isUp = complaining[part].size === 0
    if (isUp === wasUp) return
    const [reason] = complaining[part].values()
    if (isUp) log.info({ event: 'store_up', store, part }, upMessages[part])
    else log.error({ event: 'store_down', store, part, reason }, downMessages[part])
  }

  return {
    report(worker, part, up, reason) {
      const wasUp = complaining[part].size === 0
      if (up) {
        reaching[part].add(worker)
        complaining[part].delete(worker)
      } else {
        reaching[part].delete(worker)
        complaining[part].set(worker, reason ?? 'no reason given')
      }
      // A report of any worker replaces the failures of processes that cannot check again.
      complaining[part].delete(nobodyAlive)
      settle(part, wasUp)
    },
    forget(worker) {
      for (const part of ['store', 'limiter'] as const) {
        const wasUp = complaining[part].size === 0
        const reason = complaining[part].get(worker)
        reaching[part].delete(worker)
        complaining[part].delete(worker)
        if (reason !== undefined && reaching[part].size === 0) complaining[part].set(nobodyAlive, reason)
        settle(part, wasUp)
      }
    },
    finding(part) {
      const [reason] = complaining[part].values()
      if (reason === undefined) return 'ok'
      return part === 'store' ? `down (${reason})` : `local (${reason})`
    },
  }
}
