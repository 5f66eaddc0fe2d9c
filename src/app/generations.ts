import type { HttpServerHandlers } from '../http/server/handlers.ts'
import { type Poll, poll } from '../poll.ts'
import type { Generation } from './config-generation.ts'

/** The serving of now, and those before it that still have requests under way. */
export interface Generations {
  /** Hand each request to the serving of the moment when it comes. */
  readonly handlers: HttpServerHandlers
  current(): Generation
  /** What came before closes once it has answered what it began. */
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
