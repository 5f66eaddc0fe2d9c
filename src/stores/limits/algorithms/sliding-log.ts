import { type Counter, type Terms, toWaitMs } from '../counter.ts'

/** The largest limit for which each admission has its own entry. */
export const exactUpTo = 1000

/** Number of slices of the window for larger limits. */
export const slices = 512

const firstCapacity = 4

/**
 * `strict`: an exact log of admissions, never more than `limit` in any sliding window (start excluded, end included).
 * It has one entry for each admission. Above `exactUpTo` it has one for each of `slices` parts of the window, with
 * times rounded up, so that it still never admits more, and at most 1/`slices` less.
 */
export class SlidingLog implements Counter {
  overAtMicros = Number.NEGATIVE_INFINITY
  /** A ring of (time, count) pairs, oldest first. The capacity in pairs is a power of two. */
  #pairs = new Float64Array(2 * firstCapacity)
  /** Position of the oldest pair, in pairs. */
  #head = 0
  #length = 0
  /** Sum of the counts of all pairs. */
  #total = 0
  #newestMicros = Number.NEGATIVE_INFINITY

  room(terms: Terms, nowMicros: number): number {
    const windowMicros = terms.windowMs * 1000
    // A time is rounded up by less than its window. One that is further ahead belongs to a longer window that the plan
    // no longer has.
    if (this.#newestMicros > nowMicros + windowMicros) this.#forgetUntil(Number.POSITIVE_INFINITY)
    else this.#forgetUntil(nowMicros - windowMicros)
    return terms.limit - this.#total
  }

  add(terms: Terms, nowMicros: number, admitted: number): void {
    this.#total += admitted
    this.#push(stampOf(terms, nowMicros), admitted)
    this.overAtMicros = this.#newestMicros + terms.windowMs * 1000
  }

  /**
   * The time until enough entries have expired for one more request. If the limit was lowered, that can take more than
   * one entry.
   */
  waitMs({ limit, windowMs }: Terms, nowMicros: number, room: number): number {
    if (room > 0) return windowMs
    let total = this.#total
    for (let nth = 0; nth < this.#length; nth++) {
      const index = this.#indexOf(nth)
      total -= this.#pairs[index + 1] ?? 0
      if (total < limit) return toWaitMs((this.#pairs[index] ?? 0) + windowMs * 1000 - nowMicros)
    }
    return windowMs
  }

  #forgetUntil(micros: number): void {
    while (this.#length > 0) {
      const index = this.#indexOf(0)
      if ((this.#pairs[index] ?? 0) > micros) return
      this.#total -= this.#pairs[index + 1] ?? 0
      this.#head = this.#placeOf(1)
      this.#length -= 1
    }
  }

  #push(stampMicros: number, admitted: number): void {
    if (this.#length > 0 && stampMicros <= this.#newestMicros) {
      const newest = this.#indexOf(this.#length - 1) + 1
      this.#pairs[newest] = (this.#pairs[newest] ?? 0) + admitted
      return
    }
    if (2 * this.#length === this.#pairs.length) this.#grow()
    const index = this.#indexOf(this.#length)
    this.#pairs[index] = stampMicros
    this.#pairs[index + 1] = admitted
    this.#length += 1
    this.#newestMicros = stampMicros
  }

  #grow(): void {
    const pairs = new Float64Array(2 * this.#pairs.length)
    for (let nth = 0; nth < this.#length; nth++) {
      const index = this.#indexOf(nth)
      pairs[2 * nth] = this.#pairs[index] ?? 0
      pairs[2 * nth + 1] = this.#pairs[index + 1] ?? 0
    }
    this.#pairs = pairs
    this.#head = 0
  }

  /** Position of the nth pair from the oldest. */
  #placeOf(nth: number): number {
    return (this.#head + nth) & (this.#pairs.length / 2 - 1)
  }

  /** Index of the nth pair's time; its count follows. */
  #indexOf(nth: number): number {
    return 2 * this.#placeOf(nth)
  }
}

/** Rounds up, never down: an admission that is kept too long cannot let a request in too early. */
const stampOf = ({ limit, wholeLimit = limit, windowMs }: Terms, nowMicros: number): number => {
  if (wholeLimit <= exactUpTo) return nowMicros
  const sliceMicros = (windowMs * 1000) / slices
  return Math.ceil(Math.ceil(nowMicros / sliceMicros) * sliceMicros)
}
