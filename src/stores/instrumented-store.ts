import { poll } from '../poll.ts'
import type { Store } from './ports/store.ts'
import { StoreUnavailableError } from './ports/store-unavailable.ts'

/** Told what a store does; for metrics and for saying once that it is gone. */
export interface StoreObserver {
  /** @param operation port and method, e.g. `grants.redeem` */
  answered(operation: string, durationMs: number): void
  /** Whether the store answers, as far as the calls so far say, and the reason if not. */
  state(isUp: boolean, reason: string | undefined): void
}

/** The same store, every call of it timed, and pinged where no call has been answered for a second, so that a silent one is noticed. */
export const instrumentStore = (store: Store, observer: StoreObserver): Store => {
  const health = createHealth(observer, store.hasParts)
  const timed = <Port extends object>(name: string, port: Port): Port => {
    const methods = Object.entries(port).map(([method, call]) => [
      method,
      typeof call === 'function' ? observed(`${name}.${method}`, call.bind(port), observer, health) : call,
    ])
    return Object.fromEntries(methods) as Port
  }
  const ping = (): Promise<void> => observedPing()
  const observedPing = observed('ping', () => store.ping(), observer, health)
  const pinging = poll(() => (health.isKnown() ? undefined : ping().catch(() => undefined)), pingEveryMs)
  return {
    name: store.name,
    hasParts: store.hasParts,
    keys: timed('keys', store.keys),
    grants: timed('grants', store.grants),
    tokens: timed('tokens', store.tokens),
    revocations: timed('revocations', store.revocations),
    cutoffs: timed('cutoffs', store.cutoffs),
    interactions: timed('interactions', store.interactions),
    replays: timed('replays', store.replays),
    subjects: timed('subjects', store.subjects),
    pushed: timed('pushed', store.pushed),
    clients: timed('clients', store.clients),
    feeds: timed('feeds', store.feeds),
    ping,
    close() {
      pinging.close()
      return store.close()
    },
  }
}

const pingEveryMs = 1000

/** What calls say of a store. */
interface Health {
  answered(operation: string): void
  failed(error: StoreUnavailableError): void
  /** Whether the calls of late say as much as a ping would. */
  isKnown(): boolean
}

/** Once a call has failed, a ping alone says that all is well: it asks all of a store, where a call may ask a part. */
const createHealth = (observer: StoreObserver, hasParts: boolean): Health => {
  let isUp = true
  let answeredAtMs = Number.NEGATIVE_INFINITY
  return {
    answered: operation => {
      answeredAtMs = performance.now()
      if (operation === 'ping') isUp = true
      if (isUp) observer.state(true, undefined)
    },
    failed: error => {
      isUp = false
      observer.state(false, error.reason)
    },
    isKnown: () => isUp && !hasParts && performance.now() - answeredAtMs < pingEveryMs,
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
