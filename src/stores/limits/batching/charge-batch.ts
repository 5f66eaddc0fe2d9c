import type { MonotonicClock } from '../../../clock.ts'
import type { Charge, Verdict } from '../../ports/limiter.ts'
import type { Decision } from '../counters.ts'
import { type CachedDenial, denialBy, refusalBy } from './denial-cache.ts'
import { type PendingDecision, resolveInOrder } from './pending-decisions.ts'

/**
 * The charges of one key under one set of rules: the callers that wait for the shared count, and the last denial while
 * it holds.
 */
export class ChargeBatch<Question> {
  /** One of the charges; all of them are equal. */
  readonly charge: Charge
  /** The question to the shared count, without the number of requests. */
  readonly question: Question
  /** Whether a question is queued or in flight. */
  isQueued = false
  readonly #clock: MonotonicClock
  #waiters: PendingDecision[] | undefined
  #denial: CachedDenial | undefined
  #lastSentAtMs: number

  constructor(charge: Charge, question: Question, clock: MonotonicClock) {
    this.charge = charge
    this.question = question
    this.#clock = clock
    this.#lastSentAtMs = clock.nowMs()
  }

  /** Adds a caller to the next question. */
  wait(waiter: PendingDecision): void {
    if (this.#waiters === undefined) this.#waiters = [waiter]
    else this.#waiters.push(waiter)
  }

  /** Takes the callers of a question that is sent now, in the order in which they came. */
  takeWaiters(): PendingDecision[] {
    const taken = this.#waiters ?? []
    this.#waiters = undefined
    return taken
  }

  hasWaiters(): boolean {
    return this.#waiters !== undefined
  }

  /** The verdict of the last denial while it holds. */
  refusal(): Verdict | undefined {
    if (this.#denial === undefined) return undefined
    const nowMs = this.#clock.nowMs()
    if (this.#denial.untilMs > nowMs) return refusalBy(this.charge.rules, this.#denial, nowMs)
    this.#denial = undefined
    return undefined
  }

  /**
   * Gives a decision of the shared count to the callers that it was requested for.
   * @param sentAtMs when the question was sent
   */
  resolve(waiters: readonly PendingDecision[], decision: Decision, sentAtMs: number): void {
    const { rules } = this.charge
    this.#lastSentAtMs = sentAtMs
    this.#denial = denialBy(rules, decision.rules, sentAtMs, this.#clock)
    resolveInOrder(waiters, rules, decision)
  }

  /** Whether the batch was idle for a while and holds no state that is still needed. */
  isExpired(): boolean {
    return this.#lastSentAtMs + keepMs < this.#clock.nowMs() && !this.isQueued && !this.hasWaiters() && !this.refusal()
  }
}

/** How long a batch is kept after its last question, in milliseconds. */
const keepMs = 5000
