import type { HttpServerHandlers } from '../http/server/handlers.ts'
import { type Poll, poll } from '../poll.ts'
import type { Generation } from './config-generation.ts'

/** The current generation, and the earlier ones that still have requests under way. */
export interface Generations {
  /** Pass each request to the generation that is current when it arrives. */
  readonly handlers: HttpServerHandlers
  current(): Generation
  /** The generation before is closed when its requests are finished. */
  replace(next: Generation): void
  startDraining(): void
  inFlight(): number
  close(): Promise<void>
}

const checkEveryMs = 100

export const createGenerations = (first: Generation): Generations => {
  let current = first
  let isDraining = false
  const before = new Set<Generation>()

  const closeIdle = (): void => {
    for (const serving of before) {
      if (serving.gateway.inFlight() > 0) continue
      before.delete(serving)
      void serving.close(current)
    }
    if (before.size === 0) {
      checking?.close()
      checking = undefined
    }
  }
  let checking: Poll | undefined

  return {
    handlers: {
      request: (request, response) => current.gateway.handlers.request(request, response),
      refused: code => current.gateway.handlers.refused(code),
      dropped: reason => current.gateway.handlers.dropped(reason),
    },
    current: () => current,
    replace(next) {
      before.add(current)
      current = next
      if (isDraining) next.gateway.startDraining()
      checking ??= poll(closeIdle, checkEveryMs)
    },
    startDraining() {
      isDraining = true
      for (const { gateway } of [current, ...before]) gateway.startDraining()
    },
    inFlight: () => [...before].reduce((sum, { gateway }) => sum + gateway.inFlight(), current.gateway.inFlight()),
    async close() {
      checking?.close()
      await Promise.all([current.close(), ...[...before].map(serving => serving.close(current))])
    },
  }
}
