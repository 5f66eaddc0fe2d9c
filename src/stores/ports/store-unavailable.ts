import type { StoreName } from './store.ts'

/** The store did not answer, or refused to write. The endpoint answers 503. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
  readonly store: StoreName
  /** The reason, in one line for the operator. */
  readonly reason: string
  constructor(store: StoreName, cause: unknown) {
    super(`the ${store} store is unavailable`, { cause })
    this.store = store
    this.reason = cause instanceof Error ? cause.message : String(cause)
  }
}
