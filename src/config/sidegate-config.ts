import type { UpstreamOptions } from '../gateway/forwarding/upstream-options.ts'
import type { Operation } from '../gateway/operation.ts'
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
  /** Where health and metrics are served, and nothing else. */
  readonly admin: HostPort
  /** How many processes serve. At least 1. */
  readonly workers: number
  /** How many such gateways share the store; auto: counted through it. */
  readonly pods: 'auto' | number
  readonly store: StoreUrl
  /** Addresses and CIDR networks whose X-Forwarded-* is believed. */
  readonly trustedProxies: readonly string[]
  readonly product: Product
  /** By name. */
  readonly plans: Readonly<Record<string, Plan>>
  readonly operations: readonly Operation[]
  readonly groupings: readonly GroupingName[]
  readonly upstreams: readonly UpstreamOptions[]
  readonly oauth: OAuthOptions
  /** Wrong proofs for each client or user and address. */
  readonly loginFailures: Rate
  readonly shutdown: {
    /** How long accepting goes on after SIGTERM. */
    readonly delayMs: number
    /** Longest wait for what is in flight. */
    readonly timeoutMs: number
  }
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
