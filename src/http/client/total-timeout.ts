import type { UpstreamHead } from './response-head.ts'
import { type ConnectionLimits, isEventStream } from './timeouts.ts'

/** How long a round trip takes as a whole, whatever it waits for. A tick of the connection looks. */
export class TotalTimeout {
  readonly #limits: ConnectionLimits
  #isLong = false
  /** Whether the answer may take longer than a request as a whole. */
  #isEndless = false

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** A request begins. */
  restart(): void {
    this.#isLong = false
    this.#isEndless = false
  }

  /** A tick finds an answer under way: it takes longer than most. @returns whether this is the first to find it */
  becomesLong(): boolean {
    const wasLong = this.#isLong
    this.#isLong = true
    return !wasLong
  }

  /**
   * @param startedAtMs of the request, by the clock of `nowMs`
   * @param head of its answer, where that has begun
   * @param nowMs of a monotonic clock
   */
  isExpired(startedAtMs: number, head: UpstreamHead | undefined, nowMs: number): boolean {
    if (this.#isEndless || nowMs - startedAtMs < this.#limits.totalTimeoutMs) return false
    this.#isEndless = !this.#limits.endsStreams && head !== undefined && isEventStream(head)
    return !this.#isEndless
  }
}
