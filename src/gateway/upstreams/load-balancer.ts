import type { Endpoint, EndpointState } from './endpoint.ts'

/** Receives by how much the number of endpoints in a state has changed. */
export type CountEndpoints = (state: EndpointState, difference: number) => void

/** The endpoints of one upstream, and the choice among them. There is always at least one. */
export class LoadBalancer {
  readonly #count: CountEndpoints
  #all: readonly Endpoint[] = []
  /** The endpoints that requests are sent to. */
  #usable: readonly Endpoint[] = []
  #counted: readonly EndpointState[] = []

  constructor(count: CountEndpoints) {
    this.#count = count
  }

  get all(): readonly Endpoint[] {
    return this.#all
  }

  /** @param all at least one endpoint */
  replace(all: readonly Endpoint[]): void {
    this.#all = all
    this.update()
  }

  /** Must be called when the state of an endpoint has changed. */
  update(): void {
    const available = this.#all.filter(({ state }) => state === 'available')
    // If no endpoint is available, all are used: one of them may answer, and a refusal would not help.
    this.#usable = available.length > 0 ? available : this.#all
    this.#recount(this.#all.map(({ state }) => state))
  }

  /** Picks two endpoints at random and returns the one with fewer requests. */
  choose(): Endpoint {
    const usable = this.#usable
    const { length } = usable
    if (length === 1) return usable[0] as Endpoint
    const place = Math.floor(Math.random() * length)
    const other = (place + 1 + Math.floor(Math.random() * (length - 1))) % length
    const one = usable[place] as Endpoint
    const two = usable[other] as Endpoint
    return two.inFlight < one.inFlight ? two : one
  }

  /** Any endpoint except these. Undefined if there is no other. */
  chooseOther(than: readonly Endpoint[]): Endpoint | undefined {
    const usable = this.#usable.filter(endpoint => !than.includes(endpoint))
    const others = usable.length > 0 ? usable : this.#all.filter(endpoint => !than.includes(endpoint))
    return others[Math.floor(Math.random() * others.length)]
  }

  /** Removes all endpoints from the counts. */
  close(): void {
    this.#recount([])
  }

  #recount(states: readonly EndpointState[]): void {
    for (const state of this.#counted) this.#count(state, -1)
    for (const state of states) this.#count(state, 1)
    this.#counted = states
  }
}
