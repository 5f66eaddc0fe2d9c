import type { StoreName } from './store.ts'

/** The store did not answer, or refused to write. Callers answer 503 and promise nothing. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
  readonly store: StoreName
  constructor(store: StoreName, cause: unknown) {
    super(`the ${store} store is unavailable`, { cause })
    this.store = store
  }
}
