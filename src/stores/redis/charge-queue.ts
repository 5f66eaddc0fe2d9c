import type { MonotonicClock } from '../../clock.ts'
import type { ChargeBatch } from '../limits/batching/charge-batch.ts'
import type { PendingDecision } from '../limits/batching/pending-decisions.ts'
import type { LocalFallback } from '../limits/local-fallback.ts'
import type { Verdict } from '../ports/limiter.ts'
import type { CounterQuestion, RedisCounter } from './counter.ts'

type Batch = ChargeBatch<CounterQuestion>

/** The collaborators of a queue of charges. */
export interface ChargeQueueOptions {
  readonly counter: RedisCounter
  readonly local: LocalFallback
  readonly clock: MonotonicClock
  /** Whether the node that holds the counters of a batch is known to be unavailable. */
  readonly isUnavailable: (batch: Batch) => boolean
  /** Called with each failed call. */
  readonly onFailure: (batch: Batch, error: Error) => void
}

/**
 * The batches of charges that wait for Redis. A batch is sent at the end of the event loop's turn in which its first
 * charge came, and has one call at a time: charges that come during a call are sent in the next one.
 */
export class ChargeQueue {
  readonly #options: ChargeQueueOptions
  #queued: Batch[] = []

  constructor(options: ChargeQueueOptions) {
    this.#options = options
  }

  /** The verdict if no call to Redis is needed, otherwise a promise of it. */
  charge(batch: Batch): Verdict | Promise<Verdict> {
    return (
      this.#decideHere(batch) ??
      new Promise(resolve => {
        batch.wait(resolve)
        if (!batch.isQueued) this.#enqueue(batch)
      })
    )
  }

  #decideHere(batch: Batch): Verdict | undefined {
    const { isUnavailable, local } = this.#options
    return batch.refusal() ?? (isUnavailable(batch) ? local.decide(batch.charge) : undefined)
  }

  #enqueue(batch: Batch): void {
    // Runs after the sockets that are readable in this turn, so that the charges of their requests are sent as well.
    if (this.#queued.length === 0) setImmediate(() => this.#sendAll())
    this.#queued.push(batch)
    batch.isQueued = true
  }

  #sendAll(): void {
    const batches = this.#queued
    this.#queued = []
    const sentAtMs = this.#options.clock.nowMs()
    for (const batch of batches) this.#send(batch, sentAtMs)
  }

  #send(batch: Batch, sentAtMs: number): void {
    const { counter, local, isUnavailable } = this.#options
    if (isUnavailable(batch)) return void this.#proceed(batch)
    const waiters = batch.takeWaiters()
    counter.take(batch.question, waiters.length).then(
      decision => {
        local.record(batch.charge, decision)
        batch.resolve(waiters, decision, sentAtMs)
        this.#proceed(batch)
      },
      error => this.#fail(batch, waiters, error instanceof Error ? error : new Error(String(error))),
    )
  }

  #fail(batch: Batch, waiters: readonly PendingDecision[], error: Error): void {
    const { local, onFailure } = this.#options
    onFailure(batch, error)
    for (const waiter of waiters) waiter(local.decide(batch.charge))
    this.#proceed(batch)
  }

  /** Decides the charges that came during the call. Those that need Redis are queued again. */
  #proceed(batch: Batch): void {
    batch.isQueued = false
    for (const waiter of batch.takeWaiters()) {
      const verdict = this.#decideHere(batch)
      if (verdict === undefined) batch.wait(waiter)
      else waiter(verdict)
    }
    if (batch.hasWaiters()) this.#enqueue(batch)
  }
}
