import type { OpenSocket } from '../../http/client/connector.ts'
import { createConnector } from '../../http/client/connector.ts'
import { addressText, type EndpointAddress, hostOf } from '../../http/client/endpoint-address.ts'
import { type ConnectionPool, createPool } from '../../http/client/pool.ts'
import type { ConnectionLimits } from '../../http/client/timeouts.ts'
import type { ClientTls } from '../../http/client/tls-context.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/** What an endpoint is used for. */
export const endpointStates = ['available', 'ejected', 'unhealthy'] as const
export type EndpointState = (typeof endpointStates)[number]

/** One address that serves an upstream: its connections, and how it does. */
export class Endpoint {
  /** For the log. */
  readonly address: string
  /** What requests to it name as their Host. */
  readonly host: string
  readonly open: OpenSocket
  readonly pool: ConnectionPool
  /** Requests and WebSockets that it serves now. */
  inFlight = 0
  /** In a row. */
  failures = 0
  isEjected = false
  isHealthy = true
  readonly #endpointAddress: EndpointAddress

  /** @param target what the configuration says; several endpoints may come of one */
  constructor(target: string, endpointAddress: EndpointAddress, limits: ConnectionLimits, tls?: ClientTls) {
    this.address = addressText(endpointAddress)
    this.host = hostOf(target)
    this.open = createConnector(endpointAddress, tls)
    this.pool = createPool(this.open, limits)
    this.#endpointAddress = endpointAddress
  }

  get state(): EndpointState {
    if (!this.isHealthy) return 'unhealthy'
    return this.isEjected ? 'ejected' : 'available'
  }

  /** Whether this is where it is. */
  isAt(host: string): boolean {
    return this.#endpointAddress.kind === 'tcp' && this.#endpointAddress.host === host
  }
}

/** Makes the endpoints of one upstream. */
export const createEndpointFactory = (options: UpstreamOptions, tls: ClientTls | undefined) => {
  const limits: ConnectionLimits = {
    connectTimeoutMs: options.connectTimeoutMs,
    headersTimeoutMs: options.headersTimeoutMs,
    bodyTimeoutMs: options.bodyTimeoutMs,
    totalTimeoutMs: options.totalTimeoutMs,
    keepAliveMs,
  }
  return (target: string, endpointAddress: EndpointAddress): Endpoint =>
    new Endpoint(target, endpointAddress, limits, tls)
}

/** Shorter than what servers usually keep, so that the gateway closes first and no request meets a closing socket. */
const keepAliveMs = 4000
