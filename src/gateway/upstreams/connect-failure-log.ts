import type { RoundTripError } from '../../http/client/errors.ts'
import type { Endpoint } from './endpoint.ts'

/** Receives which endpoints cannot be reached, and which can again. */
export interface ConnectReport {
  /** No connection could be made. Reported once for each reason until the endpoint is reachable. */
  unreachable(endpoint: Endpoint, reason: Unreachable): void
  reachable(endpoint: Endpoint): void
}

/** Why there is no connection, for the log alone. It contains nothing of a request. */
export interface Unreachable {
  /** The code of Node or OpenSSL, such as `ECONNREFUSED`. Undefined: the connect timeout has passed. */
  readonly code: string | undefined
  /** As a text. */
  readonly reason: string
}

interface Trouble {
  /** The codes or reasons that were reported. */
  readonly said: Set<string>
  lastFailedAtMs: number
}

/**
 * Logs which endpoints of an upstream cannot be reached, and why: a wrong certificate or address would otherwise be a
 * 502 like any other. An endpoint that answers counts as reachable once nothing has failed for ten seconds, so that an
 * unstable one does not fill the log.
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

  /** Whether an endpoint is unreachable. */
  get hasTrouble(): boolean {
    return this.#troubles.size > 0
  }

  failed(endpoint: Endpoint, error: RoundTripError): void {
    if (this.#isClosed || !isOfConnection(error)) return
    const trouble = this.#troubles.get(endpoint) ?? { said: new Set(), lastFailedAtMs: 0 }
    this.#troubles.set(endpoint, trouble)
    trouble.lastFailedAtMs = this.#nowMs()
    const why = reasonOf(error)
    const key = why.code ?? why.reason
    if (trouble.said.has(key)) return
    trouble.said.add(key)
    this.#report.unreachable(endpoint, why)
  }

  /** The endpoint has answered. */
  succeeded(endpoint: Endpoint): void {
    const trouble = this.#troubles.get(endpoint)
    if (trouble === undefined || this.#nowMs() - trouble.lastFailedAtMs < calmMs) return
    this.#troubles.delete(endpoint)
    this.#report.reachable(endpoint)
  }

  /** The upstream no longer has this endpoint. */
  forget(endpoint: Endpoint): void {
    this.#troubles.delete(endpoint)
  }

  /** Connections that end from now on are closed by the gateway. */
  close(): void {
    this.#isClosed = true
  }
}

/** The time without a failure after which an endpoint counts as reachable. */
const calmMs = 10_000

/** With TLS 1.3 a server may refuse our certificate after our side of the handshake is complete. */
const isOfConnection = ({ kind, cause }: RoundTripError): boolean =>
  kind === 'unreachable' || (kind === 'closed' && codeOf(cause)?.startsWith('ERR_SSL_') === true)

/**
 * OpenSSL and Node's check of host names describe the error in `reason`. OpenSSL's message also has memory addresses in
 * it.
 */
const reasonOf = ({ cause, message }: RoundTripError): Unreachable => {
  const own = cause instanceof Error && 'reason' in cause && typeof cause.reason === 'string' ? cause.reason : message
  const code = codeOf(cause)
  // If a name has several addresses and all refuse, Node sets a code and no message.
  return { code, reason: (own || code || 'no connection').slice(0, maxCharacters) }
}

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined

/** A message about a certificate may list many names. */
const maxCharacters = 300
