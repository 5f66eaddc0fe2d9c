import { createGradualEviction } from '../gradual-eviction.ts'

/** Milliseconds since some fixed instant, with fractions. Unlike the time of day it never goes back. */
export interface MonotonicClock {
  nowMs(): number
}

export const monotonicClock: MonotonicClock = { nowMs: () => performance.now() }

/** What one counter counts: see `Charge` in `ports.ts`. */
export interface Count {
  readonly key: string
  readonly limit: number
  readonly windowMs: number
}

export interface Decision {
  /** How many of those asked for are let in, the first ones. */
  readonly granted: number
  /** How many more would be let in now. */
  readonly remaining: number
  /** With nothing remaining: milliseconds until one more is let in, rounded up. Else the window. */
  readonly waitMs: number
}

/**
 * Exact logs of admissions, one for each key: never more than `limit` in any sliding window (start excluded, end
 * included). A log keeps one entry for each admission, and above `exactUpTo` one for each of `slices` parts of the
 * window, rounded up, so that it still never lets in more, and at most 1/`slices` less.
 *
 * Instants are whole microseconds, as Redis keeps them: sums of fractions would make waits a millisecond too long.
 *
 * Keys whose log has run out are forgotten a few at a time, as others are counted.
 */
export interface SlidingLogs {
  /** @param limit where it is not the counter's own: a share of it, also 0 */
  decide(count: Count, wanted?: number, limit?: number): Decision
  /** Writes admissions down that were decided elsewhere, without asking whether they fit. */
  record(count: Count, admitted: number): void
  /** Number of keys that are kept. */
  readonly size: number
}

/** The largest limit for which every admission has its own entry. */
export const exactUpTo = 1000

/** Into how many parts the window is cut for larger limits. */
export const slices = 512

/** One key's admissions: a ring of (instant, how many) pairs, oldest first. */
interface Log {
  windowMicros: number
  pairs: Float64Array
  /** Place of the oldest pair, in pairs. */
  head: number
  length: number
  /** Sum of what the pairs count. */
  total: number
  newestMicros: number
}

const firstCapacity = 4

export const createSlidingLogs = (clock: MonotonicClock = monotonicClock): SlidingLogs => {
  const logs = new Map<string, Log>()
  const readClock = (): number => Math.round(clock.nowMs() * 1000)
  let nowMicros = readClock()
  let calls = 0
  const evict = createGradualEviction(logs, log => log.newestMicros + log.windowMicros <= nowMicros)

  const findLog = (count: Count): Log => {
    nowMicros = readClock()
    // One look in 16 calls lets a collection shrink that no new key comes to; three for a new key keep it bounded.
    if (++calls % 16 === 0) evict(1)
    const found = logs.get(count.key)
    if (found) {
      found.windowMicros = count.windowMs * 1000
      expire(found, nowMicros)
      return found
    }
    evict(3)
    const log = newLog(count.windowMs * 1000)
    logs.set(count.key, log)
    return log
  }

  return {
    decide: (count, wanted = 1, limit = count.limit) => {
      const log = findLog(count)
      const granted = Math.max(0, Math.min(wanted, limit - log.total))
      if (granted > 0) push(log, stampOf(count, nowMicros), granted)
      const remaining = Math.max(0, limit - log.total)
      return { granted, remaining, waitMs: remaining > 0 ? count.windowMs : waitOf(log, limit, nowMicros) }
    },
    record: (count, admitted) => {
      if (admitted > 0) push(findLog(count), stampOf(count, nowMicros), admitted)
    },
    get size() {
      return logs.size
    },
  }
}

const newLog = (windowMicros: number): Log => ({
  windowMicros,
  pairs: new Float64Array(2 * firstCapacity),
  head: 0,
  length: 0,
  total: 0,
  newestMicros: Number.NEGATIVE_INFINITY,
})

/** Later, never earlier: an admission that is remembered too long lets nobody in too soon. */
const stampOf = ({ limit, windowMs }: Count, nowMicros: number): number => {
  if (limit <= exactUpTo) return nowMicros
  const sliceMicros = (windowMs * 1000) / slices
  return Math.ceil(Math.ceil(nowMicros / sliceMicros) * sliceMicros)
}

/** Place of the nth pair from the oldest. The capacity is a power of two. */
const placeOf = (log: Log, nth: number): number => (log.head + nth) & (log.pairs.length / 2 - 1)

/** Index in `pairs` of the nth pair's instant; how many follows it. */
const indexOf = (log: Log, nth: number): number => 2 * placeOf(log, nth)

const expire = (log: Log, nowMicros: number): void => {
  while (log.length > 0) {
    const index = indexOf(log, 0)
    if ((log.pairs[index] ?? 0) + log.windowMicros > nowMicros) return
    log.total -= log.pairs[index + 1] ?? 0
    log.head = placeOf(log, 1)
    log.length -= 1
  }
}

const push = (log: Log, stampMicros: number, admitted: number): void => {
  log.total += admitted
  if (log.length > 0 && stampMicros <= log.newestMicros) {
    const newest = indexOf(log, log.length - 1) + 1
    log.pairs[newest] = (log.pairs[newest] ?? 0) + admitted
    return
  }
  if (2 * log.length === log.pairs.length) grow(log)
  const index = indexOf(log, log.length)
  log.pairs[index] = stampMicros
  log.pairs[index + 1] = admitted
  log.length += 1
  log.newestMicros = stampMicros
}

const grow = (log: Log): void => {
  const pairs = new Float64Array(2 * log.pairs.length)
  for (let nth = 0; nth < log.length; nth++) {
    const index = indexOf(log, nth)
    pairs[2 * nth] = log.pairs[index] ?? 0
    pairs[2 * nth + 1] = log.pairs[index + 1] ?? 0
  }
  log.pairs = pairs
  log.head = 0
}

/** Until so many have left the window that one fits; more than one pair must go where the limit was lowered. */
const waitOf = (log: Log, limit: number, nowMicros: number): number => {
  let total = log.total
  for (let nth = 0; nth < log.length; nth++) {
    const index = indexOf(log, nth)
    total -= log.pairs[index + 1] ?? 0
    const goesAtMicros = (log.pairs[index] ?? 0) + log.windowMicros
    if (total < limit) return Math.max(1, Math.ceil((goesAtMicros - nowMicros) / 1000))
  }
  return log.windowMicros / 1000
}
