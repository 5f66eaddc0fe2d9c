import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/**
 * For V8's own work beside the event loop, where Node has four. There is a worker for each core: what more of them do at the same
 * time, they take from the requests.
 */
export const helperThreads = 1

/** The nice value by which they step back: two thirds of the core go to requests where both want all of it. */
const stepBack = 4

/**
 * Has V8's threads of this process give way to requests. With ten thousand connections V8 takes tenths of a second to mark what
 * is old, and where that thread is as urgent as the event loop, a request that comes meanwhile waits for the end of its turn of
 * four milliseconds. Only Linux has a priority for each thread; elsewhere nothing changes.
 */
export const yieldToRequests = (): void => {
  for (const id of helperThreadIds()) {
    try {
      setPriority(id, Math.min(19, getPriority(id) + stepBack))
    } catch {
      // A sandbox may forbid it. They are as urgent as the rest then, as with any program of Node's.
    }
  }
}

const helperThreadIds = (): readonly number[] => {
  const tasks = '/proc/self/task'
  try {
    return readdirSync(tasks)
      .filter(id => readFileSync(`${tasks}/${id}/comm`, 'utf8').includes('V8Worker'))
      .map(Number)
  } catch {
    return []
  }
}
