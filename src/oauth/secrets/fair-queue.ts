/** One queued piece of work. */
export interface QueuedWork<Work> {
  readonly work: Work
  /** The flows that it belongs to. Other work may belong to the same flows. */
  readonly flows: readonly string[]
  /** How long it takes, in any unit. */
  readonly cost: number
}

interface Tagged<Work> extends QueuedWork<Work> {
  readonly start: number
}

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) in which work may belong to several flows. Work of a flow
 * that has used little runs before work of a flow that has used much. Work that shares any flow with much other work
 * waits as long as that work does. Equal work runs in the order of arrival.
 */
export class FairQueue<Work> {
  readonly #limit: number
  readonly #waiting: Tagged<Work>[] = []
  /** By flow: the virtual time at which all of its accepted work is done. */
  readonly #finish = new Map<string, number>()
  /** The start tag of the work that was taken last. */
  #virtualTime = 0

  /** @param limit how much work may wait */
  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#waiting.length
  }

  /**
   * Accepts work. If the queue is full, returns the work that must leave it: the last in order, which may be this
   * one.
   */
  add(queued: QueuedWork<Work>): Work | undefined {
    const start = Math.max(...queued.flows.map(flow => this.#finishOf(flow)))
    const evicted = this.#waiting.length < this.#limit ? undefined : this.#findLast()
    if (evicted !== undefined && evicted.start <= start) return queued.work
    if (evicted !== undefined) this.#evict(evicted)
    this.#waiting.push({ ...queued, start })
    // Each flow advances on its own: an account is not delayed because an address with much other work tried it once.
    for (const flow of queued.flows) this.#finish.set(flow, this.#finishOf(flow) + queued.cost)
    return evicted?.work
  }

  take(): Work | undefined {
    const next = this.#waiting.reduce<Tagged<Work> | undefined>(
      (first, queued) => (first === undefined || queued.start < first.start ? queued : first),
      undefined,
    )
    if (next === undefined) return undefined
    this.#waiting.splice(this.#waiting.indexOf(next), 1)
    this.#virtualTime = next.start
    this.#forgetFlows()
    return next.work
  }

  #findLast(): Tagged<Work> {
    return this.#waiting.reduce((last, queued) => (queued.start >= last.start ? queued : last))
  }

  #finishOf(flow: string): number {
    return Math.max(this.#virtualTime, this.#finish.get(flow) ?? 0)
  }

  #evict(evicted: Tagged<Work>): void {
    this.#waiting.splice(this.#waiting.indexOf(evicted), 1)
    for (const flow of evicted.flows) this.#finish.set(flow, this.#finishOf(flow) - evicted.cost)
  }

  /** A flow without pending work starts like a new one. Scanning all flows is worth it only when there are many. */
  #forgetFlows(): void {
    if (this.#finish.size < 4 * this.#limit) return
    for (const [flow, finish] of this.#finish) if (finish <= this.#virtualTime) this.#finish.delete(flow)
  }
}
