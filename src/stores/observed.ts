import { type Store, StoreUnavailableError } from './ports.ts'

/** Told what a store does; for metrics and for saying once that it is gone. */
export interface StoreObserver {
  /** @param operation port and method, e.g. `grants.redeem` */
  answered(operation: string, durationMs: number): void
  /** After every call: whether the store answered, and the reason if not. */
  state(isUp: boolean, reason: string | undefined): void
}

/** The same store, every call of it timed, and pinged once a second so that a silent one is noticed without traffic. */
export const observeStore = (store: Store, observer: StoreObserver): Store => {
  const timed = <Port extends object>(name: string, port: Port): Port => {
    const methods = Object.entries(port).map(([method, call]) => [
      method,
      typeof call === 'function' ? observed(`${name}.${method}`, call.bind(port), observer) : call,
    ])
    return Object.fromEntries(methods) as Port
  }
  const ping = (): Promise<void> => observedPing()
  const observedPing = observed('ping', () => store.ping(), observer)
  const timer = setInterval(() => ping().catch(() => undefined), pingEveryMs)
  timer.unref()
  return {
    name: store.name,
    keys: timed('keys', store.keys),
    grants: timed('grants', store.grants),
    tokens: timed('tokens', store.tokens),
    revocations: timed('revocations', store.revocations),
    interactions: timed('interactions', store.interactions),
    replays: timed('replays', store.replays),
    pushed: timed('pushed', store.pushed),
    ping,
    close() {
      clearInterval(timer)
      return store.close()
    },
  }
}

const pingEveryMs = 1000

const observed =
  <Args extends readonly unknown[], Answer>(
    operation: string,
    call: (...args: Args) => Promise<Answer>,
    observer: StoreObserver,
  ) =>
  async (...args: Args): Promise<Answer> => {
    const startedAtMs = performance.now()
    try {
      const answer = await call(...args)
      observer.state(true, undefined)
      return answer
    } catch (error) {
      if (error instanceof StoreUnavailableError)
        observer.state(false, String((error.cause as Error | undefined)?.message ?? error.message))
      throw error
    } finally {
      observer.answered(operation, performance.now() - startedAtMs)
    }
  }
