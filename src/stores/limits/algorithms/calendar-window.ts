import { type Counter, type Terms, toWaitMs } from '../counter.ts'

/** `calendar`: a count that is reset at every whole multiple of the window since 1970, UTC. */
export class CalendarWindow implements Counter {
  overAtMicros = Number.NEGATIVE_INFINITY
  #startMicros = Number.NEGATIVE_INFINITY
  #count = 0

  room(terms: Terms, nowMicros: number): number {
    this.#turn(terms, nowMicros)
    return terms.limit - this.#count
  }

  add(terms: Terms, nowMicros: number, admitted: number): void {
    this.#turn(terms, nowMicros)
    this.#count += admitted
  }

  waitMs(_terms: Terms, nowMicros: number): number {
    return toWaitMs(this.overAtMicros - nowMicros)
  }

  #turn({ windowMs }: Terms, nowMicros: number): void {
    const windowMicros = windowMs * 1000
    const startMicros = Math.floor(nowMicros / windowMicros) * windowMicros
    if (startMicros !== this.#startMicros) this.#count = 0
    this.#startMicros = startMicros
    this.overAtMicros = startMicros + windowMicros
  }
}
