import type { StoreName } from './store.ts'

/** The store did not answer, or refused to write. Callers answer 503 and promise nothing. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
  readonly store: StoreName
  /** Why, in one line for the operator. */
  readonly reason: string
  constructor(store: StoreName, cause: unknown) {
    super(`the ${store} store is unavailable`, { cause })
    this.store = store
    this.reason = cause instanceof Error ? cause.message : String(cause)
  }
}
