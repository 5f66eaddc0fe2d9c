/** How long one turn of the event loop goes on with it, in milliseconds. */
const sliceMs = 0.2

/** Visits them all, a few in each turn of the event loop, so that nobody's request waits for thousands of them. */
export const inSlices = <Value extends object>(values: Iterator<Value>, visit: (value: Value) => void): void => {
  const untilMs = performance.now() + sliceMs
  do {
    const next = values.next()
    if (next.done) return
    visit(next.value)
  } while (performance.now() < untilMs)
  setImmediate(inSlices, values, visit)
}
