/** A request that waits until an upstream has room. */
export interface QueuedRequest<Slot> {
  /** The upstream has room for it. */
  onTurn(slot: Slot): void
  /** It has waited too long. */
  onBusy(): void
}

/**
 * Requests that wait for room, first in, first out. The queue is short, because a request that waits long is better
 * sent elsewhere.
 */
export class PendingQueue<Slot> {
  readonly #most: number
  readonly #timeoutMs: number
  readonly #count: (difference: number) => void
  /** With the time until which each waits. */
  readonly #requests = new Map<QueuedRequest<Slot>, number>()
  #timer: NodeJS.Timeout | undefined

  /** @param count receives the changes of the length */
  constructor(most: number, timeoutMs: number, count: (difference: number) => void) {
    this.#most = most
    this.#timeoutMs = timeoutMs
    this.#count = count
  }

  get length(): number {
    return this.#requests.size
  }

  /** @returns whether there was room in the queue */
  join(request: QueuedRequest<Slot>): boolean {
    if (this.#requests.size >= this.#most) return false
    this.#requests.set(request, performance.now() + this.#timeoutMs)
    this.#count(1)
    this.#timer ??= this.#wakeIn(this.#timeoutMs)
    return true
  }

  leave(request: QueuedRequest<Slot>): void {
    if (this.#requests.delete(request)) this.#count(-1)
  }

  /** Removes and returns the first request. */
  shift(): QueuedRequest<Slot> | undefined {
    for (const request of this.#requests.keys()) {
      this.leave(request)
      return request
    }
    return undefined
  }

  /** Rejects all requests. */
  close(): void {
    clearTimeout(this.#timer)
    for (let request = this.shift(); request; request = this.shift()) request.onBusy()
  }

  #wakeIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#rejectExpired(), Math.max(1, ms)).unref()
  }

  /** All have the same timeout, so the expired ones are the first. */
  #rejectExpired(): void {
    const nowMs = performance.now()
    this.#timer = undefined
    for (const [request, untilMs] of this.#requests) {
      if (untilMs > nowMs) {
        this.#timer = this.#wakeIn(untilMs - nowMs)
        return
      }
      this.leave(request)
      request.onBusy()
    }
  }
}
