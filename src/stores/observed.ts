import type { Store } from './ports/store.ts'
import { StoreUnavailableError } from './ports/store-unavailable.ts'

/** Told what a store does; for metrics and for saying once that it is gone. */
export interface StoreObserver {
  /** @param operation port and method, e.g. `grants.redeem` */
  answered(operation: string, durationMs: number): void
  /** Whether the store answers, as far as the calls so far say, and the reason if not. */
  state(isUp: boolean, reason: string | undefined): void
}

/** The same store, every call of it timed, and pinged once a second so that a silent one is noticed without traffic. */
export const observeStore = (store: Store, observer: StoreObserver): Store => {
  const health = createHealth(observer)
  const timed = <Port extends object>(name: string, port: Port): Port => {
    const methods = Object.entries(port).map(([method, call]) => [
      method,
      typeof call === 'function' ? observed(`${name}.${method}`, call.bind(port), observer, health) : call,
    ])
    return Object.fromEntries(methods) as Port
  }
  const ping = (): Promise<void> => observedPing()
  const observedPing = observed('ping', () => store.ping(), observer, health)
  const timer = setInterval(() => ping().catch(() => undefined), pingEveryMs)
  timer.unref()
  return {
    name: store.name,
    keys: timed('keys', store.keys),
    grants: timed('grants', store.grants),
    tokens: timed('tokens', store.tokens),
    revocations: timed('revocations', store.revocations),
    cutoffs: timed('cutoffs', store.cutoffs),
    interactions: timed('interactions', store.interactions),
    replays: timed('replays', store.replays),
    pushed: timed('pushed', store.pushed),
    clients: timed('clients', store.clients),
    ping,
    close() {
      clearInterval(timer)
      return store.close()
    },
  }
}

const pingEveryMs = 1000

/** What calls say of a store. */
interface Health {
  answered(operation: string): void
  failed(error: StoreUnavailableError): void
}

/** Once a call has failed, a ping alone says that all is well: it asks all of a store, where a call may ask a part. */
const createHealth = (observer: StoreObserver): Health => {
  let isUp = true
  return {
    answered: operation => {
      if (operation === 'ping') isUp = true
      if (isUp) observer.state(true, undefined)
    },
    failed: error => {
      isUp = false
      observer.state(false, error.reason)
    },
  }
}

const observed =
  <Args extends readonly unknown[], Answer>(
    operation: string,
    call: (...args: Args) => Promise<Answer>,
    observer: StoreObserver,
    health: Health,
  ) =>
  async (...args: Args): Promise<Answer> => {
    const startedAtMs = performance.now()
    try {
      const answer = await call(...args)
      health.answered(operation)
      return answer
    } catch (error) {
      if (error instanceof StoreUnavailableError) health.failed(error)
      throw error
    } finally {
      observer.answered(operation, performance.now() - startedAtMs)
    }
  }
