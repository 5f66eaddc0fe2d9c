import { DnsRefresh, isWatchable, type LookUp } from '../../http/client/dns-refresh.ts'
import { type EndpointAddress, toEndpointAddress } from '../../http/client/endpoint-address.ts'
import type { Endpoint } from './endpoint.ts'

export interface EndpointDiscoveryOptions {
  readonly targets: readonly string[]
  /** How often names are looked up. */
  readonly dnsIntervalMs: number
}

export interface EndpointDiscoveryDeps {
  readonly lookUp: LookUp
  create(target: string, address: EndpointAddress): Endpoint
  /** All endpoints of the upstream. Endpoints that are no longer among them complete their requests. */
  onEndpoints(endpoints: readonly Endpoint[]): void
  /** The addresses of a name have changed. */
  onAddresses(name: string, addresses: readonly string[]): void
  onUnresolved(name: string, reason: string): void
}

/** Finds the endpoints of an upstream: one for each target, or one for each address of a target's name. */
export class EndpointDiscovery {
  readonly #deps: EndpointDiscoveryDeps
  readonly #byTarget = new Map<string, readonly Endpoint[]>()
  readonly #watches: readonly DnsRefresh[]

  constructor({ targets, dnsIntervalMs }: EndpointDiscoveryOptions, deps: EndpointDiscoveryDeps) {
    this.#deps = deps
    // Until its addresses are known, the endpoint has the name itself, which is resolved at each connect.
    for (const target of targets) this.#byTarget.set(target, [deps.create(target, toEndpointAddress(target))])
    this.#publish()
    this.#watches = [...this.#byTarget.keys()].flatMap(target => this.#watch(target, dnsIntervalMs))
  }

  close(): void {
    for (const watch of this.#watches) watch.close()
  }

  #watch(target: string, intervalMs: number): readonly DnsRefresh[] {
    const address = toEndpointAddress(target)
    if (address.kind === 'unix' || !isWatchable(address.name)) return []
    let isFirst = true
    const report = {
      changed: (addresses: readonly string[]) => {
        if (!isFirst) this.#deps.onAddresses(address.name, addresses)
        isFirst = false
        this.#update(target, address, addresses)
      },
      failed: (reason: string) => this.#deps.onUnresolved(address.name, reason),
    }
    return [new DnsRefresh(address.name, this.#deps.lookUp, intervalMs, report)]
  }

  /** Endpoints whose address is still in use are kept, with their connections and their state. */
  #update(target: string, address: EndpointAddress & { readonly kind: 'tcp' }, addresses: readonly string[]): void {
    const before = this.#byTarget.get(target) ?? []
    const after = addresses.map(
      host => before.find(endpoint => endpoint.isAt(host)) ?? this.#deps.create(target, { ...address, host }),
    )
    this.#byTarget.set(target, after)
    this.#publish()
  }

  #publish(): void {
    this.#deps.onEndpoints([...this.#byTarget.values()].flat())
  }
}
