/** What is made of something: the same as long as that is the same object, then made anew. */
export const memoizeLatest = <From, To>(from: () => From, make: (from: From) => To): (() => To) => {
  let before: { readonly from: From; readonly made: To } | undefined
  return () => {
    const now = from()
    if (before?.from !== now) before = { from: now, made: make(now) }
    return before.made
  }
}
