import { type Counter, type Terms, toWaitMs } from '../counter.ts'

/**
 * `smooth`: GCRA as a leaky bucket that holds `burst` requests and leaks `limit` of them per window. The content is
 * kept in requests × microseconds of the window: a request adds the window, a microsecond subtracts the limit. So all
 * sums are whole numbers, exact up to 2^53, which is a burst of 100 000 with a window of a day.
 */
export class LeakyBucket implements Counter {
  overAtMicros = Number.NEGATIVE_INFINITY
  #content = 0
  #atMicros = Number.NEGATIVE_INFINITY

  room(terms: Terms, nowMicros: number): number {
    const windowMicros = terms.windowMs * 1000
    this.#leakUntil(terms, nowMicros)
    return Math.floor((terms.burst * windowMicros - this.#content) / windowMicros)
  }

  /**
   * The content is capped at the burst, so that an excess of admissions decided elsewhere delays only the next request
   * and not all later ones.
   */
  add(terms: Terms, nowMicros: number, admitted: number): void {
    const windowMicros = terms.windowMs * 1000
    this.#leakUntil(terms, nowMicros)
    this.#content = Math.min(this.#content + admitted * windowMicros, terms.burst * windowMicros)
    this.overAtMicros = this.#content === 0 ? nowMicros : nowMicros + this.#content / terms.limit
  }

  waitMs({ limit, windowMs, burst }: Terms, _nowMicros: number, room: number): number {
    if (limit === 0 || burst === 0) return windowMs
    const excess = room > 0 ? this.#content : this.#content - (burst - 1) * windowMs * 1000
    return toWaitMs(excess / limit)
  }

  #leakUntil({ limit, windowMs, burst }: Terms, nowMicros: number): void {
    const left = this.#content === 0 ? 0 : this.#content - limit * (nowMicros - this.#atMicros)
    this.#content = Math.min(Math.max(0, left), burst * windowMs * 1000)
    this.#atMicros = nowMicros
  }
}
