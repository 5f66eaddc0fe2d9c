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

/** The whole configuration: checked, every default filled in, in the rooms' own types and units, frozen. */
export interface SidegateConfig {
  /** Byte-equal to every `iss`. */
  readonly issuer: string
  /** Where traffic is served. */
  readonly listen: HostPort
  /** TLS on `listen`. Left out: plain HTTP. */
  readonly tls?: TlsOptions
  /** Where health and metrics are served, and nothing else. */
  readonly admin: HostPort
  /** How long requests on `listen` may take, how large their headers may be, and over how many connections in all. */
  readonly requests: HttpServerOptions
  /** How many processes serve. At least 1. */
  readonly workers: number
  /** A worker that has sent no message for so long is killed and replaced. */
  readonly workerTimeoutMs: number
  /** How many such gateways share the store; auto: counted through it. */
  readonly pods: 'auto' | number
  readonly store: StoreUrl
  /** Addresses and CIDR networks whose X-Forwarded-* is believed. */
  readonly trustedProxies: readonly string[]
  /** The header field in which these proxies say the certificate of a client. */
  readonly clientCertificateHeader: ClientCertificateHeader
  /** The private listener, for the operator's own login. Left out: there is none. */
  readonly internal?: InternalOptions
  readonly product: Product
  /** By name. */
  readonly plans: Readonly<Record<string, Plan>>
  readonly rateLimitHeaders: LimitFieldForm
  readonly operations: readonly Operation[]
  readonly groupings: readonly GroupingName[]
  readonly upstreams: readonly UpstreamOptions[]
  readonly oauth: OAuthOptions
  /** Wrong proofs for each client or user and address. */
  readonly loginFailures: Rate
  /** Sign-ins begun from one address, then 429. */
  readonly loginStarts: Rate
  /** Of which happenings there are audit lines. */
  readonly audit: AuditScope
  readonly shutdown: {
    /** How long accepting goes on after SIGTERM. */
    readonly delayMs: number
    /** Longest wait for what is in flight. */
    readonly timeoutMs: number
  }
}

/** Who calls the private listener proves itself by a certificate (`tls.clientCaFile`) or by a JWT (`jwks`). */
export interface InternalOptions {
  readonly listen: HostPort
  /** Left out: plain HTTP, on a loopback address. */
  readonly tls?: TlsOptions
  /** Public keys of those whose signed JWT is proof. */
  readonly jwks?: JwkSet
}

/** What the groupings are published as. */
export interface Product {
  readonly name: string
  readonly title: string
  readonly version: string
}

export interface GroupingName {
  readonly name: string
  readonly version: string
}
