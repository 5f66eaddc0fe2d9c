import { poll } from '../poll.ts'
import type { Store } from './ports/store.ts'
import { StoreUnavailableError } from './ports/store-unavailable.ts'

/** Observes the calls of a store, for metrics and for logging an outage once. */
export interface StoreObserver {
  /** @param operation port and method, e.g. `grants.redeem` */
  answered(operation: string, durationMs: number): void
  /** Whether the store answers, as far as the calls so far show, and the reason if it does not. */
  state(isUp: boolean, reason: string | undefined): void
}

/**
 * The same store with every call timed. It is pinged if no call was answered for a second, so that an outage is noticed
 * without traffic.
 */
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

/** The health of a store as its calls show it. */
interface Health {
  answered(operation: string): void
  failed(error: StoreUnavailableError): void
  /** Whether recent calls tell as much as a ping would. */
  isKnown(): boolean
}

/**
 * After a failed call only a successful ping reports the store as up, because a ping checks all parts of a store and a
 * call may reach only one.
 */
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
