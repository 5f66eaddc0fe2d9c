import type { UpstreamHead } from './response-head.ts'
import { type ConnectionLimits, isEventStream } from './timeouts.ts'

/** The timeout of a whole round trip, in all its phases. A tick of the connection checks it. */
export class TotalTimeout {
  readonly #limits: ConnectionLimits
  #isLong = false
  /** Whether the response may take longer than the total timeout. */
  #isEndless = false

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** A request begins. */
  restart(): void {
    this.#isLong = false
    this.#isEndless = false
  }

  /** A tick finds a response under way, so it takes longer than most. @returns whether this is the first such tick */
  becomesLong(): boolean {
    const wasLong = this.#isLong
    this.#isLong = true
    return !wasLong
  }

  /**
   * @param startedAtMs of the request, by the clock of `nowMs`
   * @param head of the response if it has begun
   * @param nowMs of a monotonic clock
   */
  isExpired(startedAtMs: number, head: UpstreamHead | undefined, nowMs: number): boolean {
    if (this.#isEndless || nowMs - startedAtMs < this.#limits.totalTimeoutMs) return false
    this.#isEndless = !this.#limits.endsStreams && head !== undefined && isEventStream(head)
    return !this.#isEndless
  }
}
