import { ADDRCONFIG } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** All addresses of a name, the best first. Rejects where it has none, or nobody answers. */
export type LookUp = (name: string) => Promise<readonly string[]>

/** As the system does it, `/etc/hosts` and its search domains included; of the families that this machine has. */
export const lookUpBySystem: LookUp = async name =>
  (await lookup(name, { all: true, hints: ADDRCONFIG })).map(({ address }) => address)

/**
 * Whether the addresses of a name may change. An address is its own; `localhost` is this machine (RFC 6761 section 6.3),
 * where a service may be on one of the two families alone.
 */
export const isWatchable = (name: string): boolean => isIP(name) === 0 && !/(?:^|\.)localhost\.?$/i.test(name)

/** Told what becomes of a name. */
export interface DnsReport {
  /** These are its addresses now, one at least, in order. Said first, and whenever they are others. */
  changed(addresses: readonly string[]): void
  /** It cannot be looked up; what was there before is kept. Said once for each time that it fails. */
  failed(reason: string): void
}

/** Looks a name up again and again, for as long as it is open. */
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
    void this.#look()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #look(): Promise<void> {
    try {
      const addresses = ofOneFamily(await this.#lookUp(this.#name))
      if (!this.#isClosed) this.#take(addresses)
    } catch (error) {
      if (!this.#isClosed) this.#fail(error)
    }
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.#look(), this.#intervalMs * (1 - Math.random() * spread)).unref()
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

/** The workers do not all ask at once: each up to so much earlier than it has to. */
const spread = 0.1

/**
 * The family that the system puts first (RFC 6724): where one of the two leads nowhere, as is common, half of all requests
 * would wait for it.
 */
const ofOneFamily = (addresses: readonly string[]): readonly string[] => {
  const family = isIP(addresses[0] ?? '')
  return [...new Set(addresses.filter(address => isIP(address) === family))].sort()
}
