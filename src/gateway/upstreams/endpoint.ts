import type { OpenSocket } from '../../http/client/connector.ts'
import { createConnector } from '../../http/client/connector.ts'
import { addressText, type EndpointAddress, hostOf } from '../../http/client/endpoint-address.ts'
import { type ConnectionPool, createPool } from '../../http/client/pool.ts'
import type { ConnectionLimits } from '../../http/client/timeouts.ts'
import type { ClientTls } from '../../http/client/tls-context.ts'
import type { UpstreamOptions } from './upstream-options.ts'

/** The states of an endpoint. */
export const endpointStates = ['available', 'ejected', 'unhealthy'] as const
export type EndpointState = (typeof endpointStates)[number]

/** One address of an upstream, with its connections and its state. */
export class Endpoint {
  /** For the log. */
  readonly address: string
  /** The Host of requests to it. */
  readonly host: string
  readonly open: OpenSocket
  readonly pool: ConnectionPool
  /** Requests and WebSockets that it is serving. */
  inFlight = 0
  /** Consecutive failures. */
  failures = 0
  isEjected = false
  isHealthy = true
  readonly #endpointAddress: EndpointAddress

  /** @param target of the configuration; several endpoints may belong to one */
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

  /** Whether the endpoint has this address. */
  isAt(host: string): boolean {
    return this.#endpointAddress.kind === 'tcp' && this.#endpointAddress.host === host
  }
}

/** Creates the endpoints of one upstream. */
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

/**
 * Shorter than the keep-alive time of most servers, so that the gateway closes first and no request is sent on a
 * connection that the server is closing.
 */
const keepAliveMs = 4000
