import type { Operation } from '../gateway/operation.ts'
import type { AuditScope } from '../gateway/options.ts'
import type { LimitFieldForm } from '../gateway/ratelimit-headers.ts'
import type { UpstreamOptions } from '../gateway/upstreams/upstream-options.ts'
import type { HttpServerOptions } from '../http/server/options.ts'
import type { ClientCertificateHeader, TlsOptions } from '../http/tls/tls-options.ts'
import type { JwkSet } from '../oauth/client-keys/public-keys.ts'
import type { OAuthOptions } from '../oauth/options.ts'
import type { Plan, Rate } from '../plans/plan.ts'
import type { StoreUrl } from '../stores/store-url.ts'
import type { HostPort } from './values/address.ts'

/** The whole configuration: checked, with every default filled in, in the types and units of the rooms, frozen. */
export interface SidegateConfig {
  /** Byte-equal to every `iss`. */
  readonly issuer: string
  /** The address of the traffic listener. */
  readonly listen: HostPort
  /** TLS on `listen`. Left out: plain HTTP. */
  readonly tls?: TlsOptions
  /** The address of the listener for health and metrics. */
  readonly admin: HostPort
  /** Timeouts, header size limits, and the maximum number of connections of `listen`. */
  readonly requests: HttpServerOptions
  /** Number of worker processes. At least 1. */
  readonly workers: number
  /** A worker that has sent no message for so long is killed and replaced. */
  readonly workerTimeoutMs: number
  /** Number of gateways that share the store; auto: counted through the store. */
  readonly pods: 'auto' | number
  readonly store: StoreUrl
  /** Addresses and CIDR networks whose X-Forwarded-* headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** The header field in which these proxies send the certificate of a client. */
  readonly clientCertificateHeader: ClientCertificateHeader
  /** The private listener, for the operator's own login. Left out: it is not opened. */
  readonly internal?: InternalOptions
  readonly product: Product
  /** By name. */
  readonly plans: Readonly<Record<string, Plan>>
  readonly rateLimitHeaders: LimitFieldForm
  readonly operations: readonly Operation[]
  readonly groupings: readonly GroupingName[]
  readonly upstreams: readonly UpstreamOptions[]
  readonly oauth: OAuthOptions
  /** Failed proofs allowed for each client or user name and address. */
  readonly loginFailures: Rate
  /** Sign-ins that one address may begin before it gets 429. */
  readonly loginStarts: Rate
  /** The kinds of events that are written to the audit log. */
  readonly audit: AuditScope
  readonly shutdown: {
    /** How long connections are accepted after SIGTERM. */
    readonly delayMs: number
    /** Longest wait for requests in flight. */
    readonly timeoutMs: number
  }
}

/** A caller of the private listener authenticates by a certificate (`tls.clientCaFile`) or by a JWT (`jwks`). */
export interface InternalOptions {
  readonly listen: HostPort
  /** Left out: plain HTTP, on a loopback address. */
  readonly tls?: TlsOptions
  /** Public keys that verify the JWTs of callers. */
  readonly jwks?: JwkSet
}

/** The name and version under which the groupings are published. */
export interface Product {
  readonly name: string
  readonly title: string
  readonly version: string
}

export interface GroupingName {
  readonly name: string
  readonly version: string
}
