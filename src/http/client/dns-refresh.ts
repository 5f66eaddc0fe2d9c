import { ADDRCONFIG } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** All addresses of a name, the best first. Rejects if the name has no address or the resolver does not answer. */
export type LookUp = (name: string) => Promise<readonly string[]>

/** The resolver of the system, including `/etc/hosts` and search domains, for the address families of this machine. */
export const lookUpBySystem: LookUp = async name =>
  (await lookup(name, { all: true, hints: ADDRCONFIG })).map(({ address }) => address)

/**
 * Whether the addresses of a name may change. An address is constant. `localhost` is this machine (RFC 6761 section
 * 6.3), where a service may listen on one of the two families alone.
 */
export const isWatchable = (name: string): boolean => isIP(name) === 0 && !/(?:^|\.)localhost\.?$/i.test(name)

/** Receives the results of the lookups. */
export interface DnsReport {
  /** The current addresses, at least one, in order. Called first, and whenever they change. */
  changed(addresses: readonly string[]): void
  /** The lookup fails; the last addresses are kept. Called once until a lookup succeeds. */
  failed(reason: string): void
}

/** Resolves a name regularly until it is closed. */
export class DnsRefresh {
  readonly #name: string
  readonly #lookUp: LookUp
  readonly #intervalMs: number
  readonly #report: DnsReport
  #known = ''
  #isFailing = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(name: string, lookUp: LookUp, intervalMs: number, report: DnsReport) {
    this.#name = name
    this.#lookUp = lookUp
    this.#intervalMs = intervalMs
    this.#report = report
    void this.#refresh()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #refresh(): Promise<void> {
    try {
      const addresses = ofOneFamily(await this.#lookUp(this.#name))
      if (!this.#isClosed) this.#take(addresses)
    } catch (error) {
      if (!this.#isClosed) this.#fail(error)
    }
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.#refresh(), this.#intervalMs * (1 - Math.random() * spread)).unref()
  }

  #take(addresses: readonly string[]): void {
    if (addresses.length === 0) throw new Error('it has no address')
    this.#isFailing = false
    const known = addresses.join()
    if (known === this.#known) return
    this.#known = known
    this.#report.changed(addresses)
  }

  #fail(error: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    const { code, message } = error as NodeJS.ErrnoException
    this.#report.failed(code ?? message)
  }
}

/** Jitter, so that the workers do not all resolve at the same time: each up to this fraction earlier. */
const spread = 0.1

/**
 * The address family that the system prefers (RFC 6724). If one of the two families has no route, which is common, half
 * of all requests would wait for it.
 */
const ofOneFamily = (addresses: readonly string[]): readonly string[] => {
  const family = isIP(addresses[0] ?? '')
  return [...new Set(addresses.filter(address => isIP(address) === family))].sort()
}
