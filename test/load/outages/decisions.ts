import { setTimeout as sleep } from 'node:timers/promises'
import { scrape, sumOf } from '../../telemetry/support/exposition.ts'

/** The values of `sidegate_plan_decisions_total` of a running gateway, read again and again. */
export interface Decisions {
  /** When the last decision was seen that was not the shared count's, by this process's clock; undefined: never. */
  lastLocalAtMs(): number | undefined
  stop(): Promise<void>
}

/** So fine are instants, in milliseconds. */
const everyMs = 20

export const followDecisions = (admin: string): Decisions => {
  let isRunning = true
  let local: number | undefined
  let lastLocalAtMs: number | undefined
  const run = async (): Promise<void> => {
    while (isRunning) {
      const exposition = await scrape(admin).catch(() => undefined)
      const now = exposition && sumOf(exposition, 'sidegate_plan_decisions_total', { decision: 'local' })
      if (local !== undefined && now !== undefined && now > local) lastLocalAtMs = performance.now()
      local = now ?? local
      await sleep(everyMs)
    }
  }
  const running = run()
  return {
    lastLocalAtMs: () => lastLocalAtMs,
    stop: async () => {
      isRunning = false
      await running
    },
  }
}
