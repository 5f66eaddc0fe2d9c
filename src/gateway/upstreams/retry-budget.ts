/**
 * Keeps retries from making an outage worse: in ten seconds this share of the requests may be retries, or thirty if
 * that is more.
 */
export class RetryBudget {
  /** Requests sent so far. The sender of a request adds it here. */
  requests = 0
  readonly #percent: number
  #windowEndsAtMs = 0
  #requestsBefore = 0
  #retries = 0

  /** @param percent 0: no retries at all */
  constructor(percent: number) {
    this.#percent = percent
  }

  /** Whether one more retry may be made; it is counted then. @param nowMs of a monotonic clock */
  take(nowMs: number): boolean {
    if (this.#percent === 0) return false
    if (nowMs >= this.#windowEndsAtMs) this.#begin(nowMs)
    const share = ((this.requests - this.#requestsBefore) * this.#percent) / 100
    if (this.#retries >= Math.max(leastRetries, share)) return false
    this.#retries += 1
    return true
  }

  #begin(nowMs: number): void {
    this.#windowEndsAtMs = nowMs + windowMs
    this.#requestsBefore = this.requests
    this.#retries = 0
  }
}

const windowMs = 10_000

/** Three a second. */
const leastRetries = 30
