/** A value that is often available without waiting: callers await only a promise. */
export type MaybePromise<T> = T | Promise<T>

/** Calls `next` at once if the value is not a promise. That saves a turn of the event loop on the hot path. */
export const mapMaybe = <T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  value instanceof Promise ? value.then(next) : next(value)

/** Remembers the last result: `make` runs again only when `from` returns another object than before. */
export const memoizeLatest = <From, To>(from: () => From, make: (from: From) => To): (() => To) => {
  let before: { readonly from: From; readonly made: To } | undefined
  return () => {
    const now = from()
    if (before?.from !== now) before = { from: now, made: make(now) }
    return before.made
  }
}
