import type { Command } from 'ioredis'

/**
 * Ends commands that were not answered in time, all of one connection by one timer: one for each would be set and taken back
 * with each of thousands a second.
 */
export class CommandTimeouts {
  readonly #timeoutMs: number
  /** A ring, in the order in which they were sent, which is that of their deadlines. */
  #sent: (Command | undefined)[] = Array(64).fill(undefined)
  #dueAtMs: number[] = Array(64).fill(0)
  #first = 0
  #count = 0
  #isArmed = false

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** A command that is sent now. */
  add(command: Command): void {
    this.#passSettled()
    if (this.#count === this.#sent.length) this.#grow()
    const place = this.#placeOf(this.#count++)
    this.#sent[place] = command
    this.#dueAtMs[place] = performance.now() + this.#timeoutMs
    if (!this.#isArmed) this.#arm(this.#timeoutMs)
  }

  #arm(waitMs: number): void {
    this.#isArmed = true
    // A store that is closed keeps no process for it: where something is under way the connection does.
    setTimeout(this.#readFirst, waitMs).unref()
  }

  /**
   * What has come by now is read before anything is ended: a process that stood still itself, at the end of its share of the
   * CPU, would take every Redis for silent. And so nothing is ended that becomes due in the rest of this turn.
   */
  readonly #readFirst = (): void => void setImmediate(this.#endLate, performance.now())

  readonly #endLate = (nowMs: number): void => {
    this.#isArmed = false
    for (this.#passSettled(); this.#count > 0; this.#passSettled()) {
      const waitMs = (this.#dueAtMs[this.#first] ?? 0) - nowMs
      if (waitMs > 0) {
        this.#arm(waitMs)
        return
      }
      this.#sent[this.#first]?.reject(new Error('Command timed out'))
    }
  }

  /** Lets go of those in front that are answered. */
  #passSettled(): void {
    while (this.#count > 0 && this.#sent[this.#first]?.isSettled !== false) {
      this.#sent[this.#first] = undefined
      this.#first = this.#placeOf(1)
      this.#count--
    }
  }

  #placeOf(nth: number): number {
    return (this.#first + nth) % this.#sent.length
  }

  #grow(): void {
    const { length } = this.#sent
    const order = Array.from({ length }, (_, nth) => this.#placeOf(nth))
    this.#sent = [...order.map(place => this.#sent[place]), ...Array<undefined>(length).fill(undefined)]
    this.#dueAtMs = [...order.map(place => this.#dueAtMs[place] ?? 0), ...Array<number>(length).fill(0)]
    this.#first = 0
  }
}
