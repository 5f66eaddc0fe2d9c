/** One piece of work that waits. */
export interface QueuedWork<Work> {
  readonly work: Work
  /** Whose it is; work shares each of these with other work. */
  readonly flows: readonly string[]
  /** How long it takes, in any unit. */
  readonly cost: number
}

interface Tagged<Work> extends QueuedWork<Work> {
  readonly start: number
}

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) where work may belong to several flows. Work of a flow that has had
 * little gets its turn before work of a flow that has had much; work that shares any flow with much other work waits as that
 * does. Among equals the first that came is the first.
 */
export class FairQueue<Work> {
  readonly #limit: number
  readonly #waiting: Tagged<Work>[] = []
  /** By flow: the virtual time when all of its work that was accepted is done. */
  readonly #finish = new Map<string, number>()
  /** The start of the work that was taken last. */
  #virtualTime = 0

  /** @param limit how much work may wait */
  constructor(limit: number) {
    this.#limit = limit
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Accepts work. When the queue is full, answers with the work that has to leave: the last in order, which may be this. */
  add(queued: QueuedWork<Work>): Work | undefined {
    const start = Math.max(...queued.flows.map(flow => this.#finishOf(flow)))
    const evicted = this.#waiting.length < this.#limit ? undefined : this.#findLast()
    if (evicted !== undefined && evicted.start <= start) return queued.work
    if (evicted !== undefined) this.#evict(evicted)
    this.#waiting.push({ ...queued, start })
    // Each flow goes on by itself: an account is not put off because an address with much other work tried it once.
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

  /** A flow whose work is done begins like a new one. To look at all of them is worth it only once they are many. */
  #forgetFlows(): void {
    if (this.#finish.size < 4 * this.#limit) return
    for (const [flow, finish] of this.#finish) if (finish <= this.#virtualTime) this.#finish.delete(flow)
  }
}
