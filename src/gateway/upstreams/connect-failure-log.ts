import type { RoundTripError } from '../../http/client/errors.ts'
import type { Endpoint } from './endpoint.ts'

/** Told which endpoints cannot be reached, and which can again. */
export interface ConnectReport {
  /** No connection to it was made; said once for each reason until it is reachable. */
  unreachable(endpoint: Endpoint, reason: Unreachable): void
  reachable(endpoint: Endpoint): void
}

/** Why there is no connection: for the log alone, and nothing of a request is in it. */
export interface Unreachable {
  /** Of Node or OpenSSL, such as `ECONNREFUSED`; undefined where it took too long. */
  readonly code: string | undefined
  /** In words. */
  readonly reason: string
}

interface Trouble {
  /** What has been said. */
  readonly said: Set<string>
  lastMissedAtMs: number
}

/**
 * Who of an upstream's endpoints cannot be reached, and why: a wrong certificate or address would otherwise be a 502 like any
 * other. One that answers counts as reachable once nothing has failed for ten seconds, so that one which comes and goes
 * does not fill the log.
 */
export class ConnectFailureLog {
  readonly #report: ConnectReport
  readonly #nowMs: () => number
  readonly #troubles = new Map<Endpoint, Trouble>()
  #isClosed = false

  /** @param nowMs of a monotonic clock */
  constructor(report: ConnectReport, nowMs: () => number) {
    this.#report = report
    this.#nowMs = nowMs
  }

  /** Whether there is anything to hear of. */
  get hasTrouble(): boolean {
    return this.#troubles.size > 0
  }

  failed(endpoint: Endpoint, error: RoundTripError): void {
    if (this.#isClosed || !isOfConnection(error)) return
    const trouble = this.#troubles.get(endpoint) ?? { said: new Set(), lastMissedAtMs: 0 }
    this.#troubles.set(endpoint, trouble)
    trouble.lastMissedAtMs = this.#nowMs()
    const why = reasonOf(error)
    const key = why.code ?? why.reason
    if (trouble.said.has(key)) return
    trouble.said.add(key)
    this.#report.unreachable(endpoint, why)
  }

  /** It has answered. */
  succeeded(endpoint: Endpoint): void {
    const trouble = this.#troubles.get(endpoint)
    if (trouble === undefined || this.#nowMs() - trouble.lastMissedAtMs < calmMs) return
    this.#troubles.delete(endpoint)
    this.#report.reachable(endpoint)
  }

  /** It is no endpoint any more. */
  forget(endpoint: Endpoint): void {
    this.#troubles.delete(endpoint)
  }

  /** Connections that end from now on are ended by us. */
  close(): void {
    this.#isClosed = true
  }
}

/** How long nothing must have failed. */
const calmMs = 10_000

/** With TLS 1.3 a server refuses our certificate when we take the connection for made. */
const isOfConnection = ({ kind, cause }: RoundTripError): boolean =>
  kind === 'unreachable' || (kind === 'closed' && codeOf(cause)?.startsWith('ERR_SSL_') === true)

/** OpenSSL and Node's check of names have their words in `reason`: in the message of the one stand addresses of memory. */
const reasonOf = ({ cause, message }: RoundTripError): Unreachable => {
  const own = cause instanceof Error && 'reason' in cause && typeof cause.reason === 'string' ? cause.reason : message
  const code = codeOf(cause)
  // Of a name with several addresses that all refuse Node has a code, and no words.
  return { code, reason: (own || code || 'no connection').slice(0, mostCharacters) }
}

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined

/** Names of a certificate may be many. */
const mostCharacters = 300
