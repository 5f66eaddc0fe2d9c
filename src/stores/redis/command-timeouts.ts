import type { Command } from 'ioredis'

/**
 * Ends commands that were not answered in time. All commands of a connection share one timer, because thousands of
 * timers would be set and cleared each second otherwise.
 */
export class CommandTimeouts {
  readonly #timeoutMs: number
  /** A ring in the order of sending, which is also the order of the deadlines. */
  #sent: (Command | undefined)[] = Array(64).fill(undefined)
  #dueAtMs: number[] = Array(64).fill(0)
  #first = 0
  #count = 0
  #isArmed = false

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Adds a command when it is sent. */
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
    // The timer does not keep the process alive after the store is closed: while a command is in flight the connection
    // does.
    setTimeout(this.#readFirst, waitMs).unref()
  }

  /**
   * Reads data that has arrived before it ends any command. Otherwise a process that was paused itself, because its CPU
   * quota was used up, would take every Redis for silent. Commands that become due in the rest of this turn are not
   * ended.
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

  /** Removes answered commands from the front. */
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
