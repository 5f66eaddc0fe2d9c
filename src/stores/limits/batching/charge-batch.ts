import type { MonotonicClock } from '../../../clock.ts'
import type { Charge, Verdict } from '../../ports/limiter.ts'
import type { Decision } from '../counters.ts'
import { type CachedDenial, denialBy, refusalBy } from './denial-cache.ts'
import { type PendingDecision, resolveInOrder } from './pending-decisions.ts'

/** One key under one set of rules: who waits there for the shared count, and until when that has refused them. */
export class ChargeBatch<Question> {
  /** Any of those that wait here: they say the same. */
  readonly charge: Charge
  /** How the count is asked about it. */
  readonly question: Question
  /** Whether a question is due or under way. */
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

  /** To go along in the next question. */
  wait(waiter: PendingDecision): void {
    if (this.#waiters === undefined) this.#waiters = [waiter]
    else this.#waiters.push(waiter)
  }

  /** Who goes along in a question that leaves now, in the order in which they came. */
  takeWaiters(): PendingDecision[] {
    const taken = this.#waiters ?? []
    this.#waiters = undefined
    return taken
  }

  hasWaiters(): boolean {
    return this.#waiters !== undefined
  }

  /** What the count refused before, while that holds. */
  refusal(): Verdict | undefined {
    if (this.#denial === undefined) return undefined
    const nowMs = this.#clock.nowMs()
    if (this.#denial.untilMs > nowMs) return refusalBy(this.charge.rules, this.#denial, nowMs)
    this.#denial = undefined
    return undefined
  }

  /**
   * Hands a decision of the count to those it was asked for.
   * @param sentAtMs when the question left
   */
  resolve(waiters: readonly PendingDecision[], decision: Decision, sentAtMs: number): void {
    const { rules } = this.charge
    this.#lastSentAtMs = sentAtMs
    this.#denial = denialBy(rules, decision.rules, sentAtMs, this.#clock)
    resolveInOrder(waiters, rules, decision)
  }

  /** Whether nobody asked here for a while, and nothing would be lost with it. */
  isExpired(): boolean {
    return this.#lastSentAtMs + keepMs < this.#clock.nowMs() && !this.isQueued && !this.hasWaiters() && !this.refusal()
  }
}

/** How long a line is kept after its last question, in milliseconds. */
const keepMs = 5000
