/** Who waits until an upstream has room. */
export interface QueuedRequest<Place> {
  /** It is its turn. */
  onTurn(place: Place): void
  /** It has waited too long. */
  onBusy(): void
}

/** Requests that wait for room, first come, first served. A short one: who waits long is better off elsewhere. */
export class PendingQueue<Place> {
  readonly #most: number
  readonly #timeoutMs: number
  readonly #count: (difference: number) => void
  /** With the time until which each waits. */
  readonly #waiters = new Map<QueuedRequest<Place>, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param count told how the length of the line changes */
  constructor(most: number, timeoutMs: number, count: (difference: number) => void) {
    this.#most = most
    this.#timeoutMs = timeoutMs
    this.#count = count
  }

  get length(): number {
    return this.#waiters.size
  }

  /** @returns whether there was room in the line */
  join(waiter: QueuedRequest<Place>): boolean {
    if (this.#waiters.size >= this.#most) return false
    this.#waiters.set(waiter, performance.now() + this.#timeoutMs)
    this.#count(1)
    this.#timer ??= this.#wakeIn(this.#timeoutMs)
    return true
  }

  leave(waiter: QueuedRequest<Place>): void {
    if (this.#waiters.delete(waiter)) this.#count(-1)
  }

  /** The first one, no longer in the line. */
  shift(): QueuedRequest<Place> | undefined {
    for (const waiter of this.#waiters.keys()) {
      this.leave(waiter)
      return waiter
    }
    return undefined
  }

  /** Sends all away. */
  close(): void {
    clearTimeout(this.#timer)
    for (let waiter = this.shift(); waiter; waiter = this.shift()) waiter.onBusy()
  }

  #wakeIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#sendAway(), Math.max(1, ms)).unref()
  }

  /** All wait equally long, so those whose time is over stand first. */
  #sendAway(): void {
    const nowMs = performance.now()
    this.#timer = undefined
    for (const [waiter, untilMs] of this.#waiters) {
      if (untilMs > nowMs) {
        this.#timer = this.#wakeIn(untilMs - nowMs)
        return
      }
      this.leave(waiter)
      waiter.onBusy()
    }
  }
}
